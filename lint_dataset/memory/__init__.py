"""Peak memory of a training step: step programs, their curve, and their replay through the allocator."""
