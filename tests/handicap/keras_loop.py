"""LeNet in Keras on TensorFlow, as in "Introduction to Keras for engineers" of its guides: a sequential model, compiled, given
one batch after the other."""
import os

import prepared

images, labels, order, threads = prepared.arguments()
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
images = images.transpose(0, 2, 3, 1).copy()

model = keras.Sequential([
    keras.Input((28, 28, 1)), layers.Rescaling(1 / 255), layers.Conv2D(32, 5, padding="same", activation="relu"),
    layers.MaxPooling2D(), layers.Conv2D(64, 5, padding="same", activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
    layers.Dense(1024, activation="relu"), layers.Dense(10)])
model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              optimizer=keras.optimizers.SGD(prepared.LR, momentum=prepared.MOMENTUM))

prepared.train(order, lambda rows: model.train_on_batch(images[rows], labels[rows]),
               lambda losses: sum(float(loss) for loss in losses) / len(losses))
