#!/usr/bin/env bash
# Two cards.
set -euo pipefail
MODEL=Qwen/Qwen2.5-7B-Instruct
export LENGTH=4096
pip install --upgrade trl peft
CUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 2 --config_file zero2.yaml \
    sft.py \
    --model_name_or_path "$MODEL" --dtype bfloat16 \
    --dataset_name someone/dialogues --dataset_train_split train \
    --max_length ${LENGTH} --truncation_mode keep_end --completion_only_loss False \
    --use_peft --load_in_4bit --lora_r 64 --lora_target_modules q_proj k_proj v_proj o_proj \
    --per_device_train_batch_size=1 --gradient_accumulation_steps 16 \
    --no_gradient_checkpointing --loss_type nll --bf16 --packing --learning_rate 1e-4 \
    --eos_token '<|im_end|>' --output_dir "$OUT/run"  # where the cluster wants it
echo done && ls -l
