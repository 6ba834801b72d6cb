# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50's input as a function, with PyTorch's iterators: resnet50_pipeline_def.py FOLDER."""

import argparse
import json

from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIClassificationIterator


@pipeline_def
def create_dali_pipeline(data_dir, crop, size, shard_id, num_shards, is_training=True):
    images, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=is_training,
        pad_last_batch=True,
        name="Reader",
    )
    if is_training:
        images = fn.decoders.image_random_crop(
            images,
            device="cpu",
            output_type=types.RGB,
            random_aspect_ratio=[0.8, 1.25],
            random_area=[0.1, 1.0],
            num_attempts=100,
        )
        images = fn.resize(
            images, resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR
        )
        mirror = fn.random.coin_flip(probability=0.5)
    else:
        images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
        images = fn.resize(
            images, size=size, mode="not_smaller", interp_type=types.INTERP_TRIANGULAR
        )
        mirror = False
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(crop, crop),
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        mirror=mirror,
    )
    return images, labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data_dir")
    parser.add_argument("--batch-size", type=int, default=5)
    args = parser.parse_args()
    for is_training in (False, True):
        for policy in (LastBatchPolicy.PARTIAL, LastBatchPolicy.FILL, LastBatchPolicy.DROP):
            pipe = create_dali_pipeline(
                batch_size=args.batch_size,
                num_threads=2,
                device_id=None,
                seed=12,
                data_dir=args.data_dir,
                crop=24,
                size=30,
                shard_id=0,
                num_shards=1,
                is_training=is_training,
            )
            pipe.build()
            loader = DALIClassificationIterator(
                pipe, reader_name="Reader", last_batch_policy=policy, auto_reset=True
            )
            for epoch in range(2):
                labels, flat = [], []
                for data in loader:
                    target = data[0]["label"].squeeze(-1).long()
                    labels.append(target.tolist())
                    flat += target.tolist()
                    shape, dtype = list(data[0]["data"].shape), str(data[0]["data"].dtype)
                    line = {"shape": shape, "dtype": dtype, "label": str(data[0]["label"].dtype)}
                    print(json.dumps(line))
                seen = sorted(flat) if is_training else labels
                if is_training and policy is not LastBatchPolicy.PARTIAL:
                    seen = len(flat)  # chance decides which ones are repeated or dropped
                print(json.dumps({"epoch": epoch, "steps": len(loader), "labels": seen}))


if __name__ == "__main__":
    main()
