# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Classification with functions of the script, mixed batches and shards: ... FOLDER."""

import json
import sys

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

CLASSES = 3


def negative(image):
    return 255 - image


def histogram(image, label):
    counts = np.quantile(image, [0.1, 0.5, 0.9]).astype(np.float32)
    return counts, np.eye(CLASSES, dtype=np.float32)[label[0]]


def of_batch(images):
    return [np.float32([image.mean(), len(images)]) for image in images]


@pipeline_def
def with_functions(data_dir):
    encoded, labels = fn.readers.file(file_root=data_dir, name="Reader", pad_last_batch=True)
    images = fn.resize(fn.decoders.image(encoded, output_type=types.BGR), size=[16, 16])
    inverted = fn.python_function(images, function=negative, output_layouts="HWC")
    counts, hot = fn.python_function(images, labels, function=histogram, num_outputs=2)
    means = fn.python_function(images, function=of_batch, batch_processing=True)
    return fn.flip(inverted), counts, hot, means, labels


@pipeline_def
def mixed_up(data_dir, shard_id, num_shards):
    """Mixes each picture and label with another one of the batch."""
    encoded, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=True,
        initial_fill=6,
        pad_last_batch=True,
        stick_to_shard=True,
        name="Reader",
    )
    images = fn.random_resized_crop(
        fn.decoders.image(encoded), size=[12, 12], random_area=[0.3, 1.0], num_attempts=20
    )
    images = fn.cast(images, dtype=types.FLOAT) * np.float32(1 / 255)
    hot = fn.one_hot(fn.reshape(labels, shape=[]), num_classes=CLASSES)
    order = fn.batch_permutation(no_fixed_points=True)
    share = fn.random.beta(alpha=0.4, beta=0.4)
    other_images = fn.permute_batch(images, indices=order)
    other_hot = fn.permute_batch(hot, indices=order)
    mixed = images * share + other_images * (1.0 - share)
    mixed_hot = hot * share + other_hot * (1.0 - share)
    mean = np.float32([0.485, 0.456, 0.406])
    return (mixed - mean) / np.float32([0.229, 0.224, 0.225]), mixed_hot, labels, order, share


def main(data_dir):
    settings = {"batch_size": 4, "num_threads": 2, "device_id": None}
    pipe = with_functions(data_dir, **settings)
    pipe.build()
    for _ in range(4):
        inverted, counts, hot, means, labels = pipe.run()
        line = {"layout": inverted.layout(), "labels": labels.as_array().ravel().tolist()}
        line |= {"counts": counts.as_array().tolist(), "hot": hot.as_array().tolist()}
        line |= {"means": means.as_array().tolist()}
        line["some"] = (
            inverted.as_array()[:, 4:12, 4:12].reshape(4, -1)[:, ::13].astype(float).tolist()
        )
        print(json.dumps(line))

    pipes = [mixed_up(data_dir, i, 2, **settings, seed=30 + i) for i in range(2)]
    loader = DALIGenericIterator(
        pipes,
        ["images", "hot", "labels", "order", "share"],
        reader_name="Reader",
        last_batch_policy=LastBatchPolicy.PARTIAL,
        auto_reset=True,
    )
    for epoch in range(2):
        seen = []
        for shards in loader:
            for data in shards:
                hot, labels, order, share = (
                    data[k].numpy() for k in ("hot", "labels", "order", "share")
                )
                line = {"shape": list(data["images"].shape), "dtype": str(data["images"].dtype)}
                if len(labels) == 4:  # else some of the others are not given to the user
                    one = np.eye(CLASSES)[labels.ravel()]
                    part = share.reshape(-1, 1)
                    right = one * part + one[order.ravel()] * (1 - part)
                    line["hot"] = bool(np.allclose(hot, right, atol=1e-6))
                    line["order"] = bool((order.ravel() != np.arange(4)).all())
                print(json.dumps(line))
                seen += labels.ravel().tolist()
        print(json.dumps({"epoch": epoch, "seen": sorted(seen), "length": len(loader)}))


if __name__ == "__main__":
    main(sys.argv[1])
