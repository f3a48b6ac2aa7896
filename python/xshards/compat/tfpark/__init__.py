# SPDX-License-Identifier: Apache-2.0
"""TFPark and the TensorFlow 1 Estimators of Orca."""
