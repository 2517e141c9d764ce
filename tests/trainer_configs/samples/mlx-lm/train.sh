cd ~/models
python -m mlx_lm lora --train -c lora.yaml --model ./llama-mlx --max-seq-length 1024 --batch-size 8 --iters 50
