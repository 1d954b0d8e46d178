"""LeNet in TensorFlow, as in "Writing a training loop from scratch" of its guides."""
import prepared
import tensorflow as tf

images, labels, order, threads = prepared.arguments()
tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
images = images.transpose(0, 2, 3, 1).copy()

layers = tf.keras.layers
model = tf.keras.Sequential([
    tf.keras.Input((28, 28, 1)), layers.Conv2D(32, 5, padding="same", activation="relu"), layers.MaxPooling2D(),
    layers.Conv2D(64, 5, padding="same", activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
    layers.Dense(1024, activation="relu"), layers.Dense(10)])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(prepared.LR, momentum=prepared.MOMENTUM)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(tf.cast(x, tf.float32) / 255, training=True))
    gradients = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights))
    return loss


prepared.train(order, lambda rows: train_step(tf.constant(images[rows]), tf.constant(labels[rows])),
               lambda losses: sum(float(loss) for loss in losses) / len(losses))
