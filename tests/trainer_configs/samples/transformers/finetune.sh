torchrun --nproc_per_node 4 --master_port 20001 finetune.py \
  --model_name_or_path Qwen/Qwen2.5-7B-Instruct \
  --train_file coach.jsonl \
  --model_max_length 2048 --torch_dtype bfloat16 \
  --use_peft False --bf16 True \
  --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
  --num_train_epochs 3 --learning_rate 2e-5 --lr_scheduler_type cosine \
  --my_own_switch yes --output_dir out
