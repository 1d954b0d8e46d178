"""What TensorFlow's SavedModels hold, for the adapters that save networks as one."""

import os

import numpy as np
import tensorflow as tf


def count_bytes(folder):
    """Of the floats that are stored in it, each as often as it is there."""
    stored = tf.train.load_checkpoint(os.path.join(folder, "variables", "variables"))
    types = stored.get_variable_to_dtype_map()
    return sum(int(np.prod(shape)) * types[name].size for name, shape in stored.get_variable_to_shape_map().items()
               if types[name].is_floating)
