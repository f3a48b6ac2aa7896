# SPDX-License-Identifier: Apache-2.0
"""A framework in numpy: models with gradients of their own, and their adapter.

It shows what the training core needs of a framework, and that it needs no more.
"""

import json

import numpy as np

from xshards.context import default_context
from xshards.learn.metrics import register_metrics
from xshards.learn.training.adapter import Buffers, ModelAdapter, ModelInput
from xshards.learn.training.clip import Clip
from xshards.learn.training.commands import Parts
from xshards.learn.training.driver_optimizer import DriverOptimizer
from xshards.learn.training.estimator_base import EstimatorBase
from xshards.learn.training.job import Job, check_num_replicas
from xshards.learn.training.operator import Operator
from xshards.learn.training.replica_optimizer import ServerOptimizerBase

register_metrics("numpy", "numpy_metrics")

# The framework's global random generator.
random = np.random.default_rng(0)


class Parameter:
    """An array that training changes; models share its memory with the server."""

    def __init__(self, data):
        self.data = data


class Mlp:
    """Two layers with tanh between, noise on the input, and a running mean of it."""

    def __init__(self, inputs, hidden, seed=0, noise=0.0):
        draw = np.random.default_rng(seed)
        self.parameters = {
            "hidden.weight": Parameter(draw.normal(size=(inputs, hidden)) / inputs),
            "hidden.bias": Parameter(np.zeros(hidden)),
            "output.weight": Parameter(draw.normal(size=(hidden, 1)) / hidden),
            "output.bias": Parameter(np.zeros(1)),
        }
        self.mean = np.zeros(inputs)
        self.noise = noise
        self.training = False

    def __call__(self, x):
        if self.training:
            self.mean *= 0.9
            self.mean += 0.1 * x.mean(axis=0)
            x = x + self.noise * random.normal(size=x.shape)
        w1, b1, w2, b2 = (one.data for one in self.parameters.values())
        self.input, self.activation = x, np.tanh(x @ w1 + b1)
        return self.activation @ w2 + b2

    def gradients(self, of_output):
        """Return the gradient of each parameter for that of the last output."""
        _, _, w2, _ = (one.data for one in self.parameters.values())
        inner = (of_output @ w2.T) * (1 - self.activation**2)
        return [
            self.input.T @ inner,
            inner.sum(axis=0),
            self.activation.T @ of_output,
            of_output.sum(axis=0),
        ]


class SquaredError:
    def __call__(self, output, target, weights=None):
        errors = np.square(output - target)
        if weights is None:
            return errors.mean()
        return (errors.mean(axis=1) * weights).sum() / max(weights.sum(), 1e-300)

    def gradient(self, output, target, weights=None):
        if weights is None:
            return 2 * (output - target) / output.size
        shares = weights[:, None] / max(weights.sum(), 1e-300) / output.shape[1]
        return 2 * (output - target) * shares


class Sgd:
    """Gradient descent with momentum, which the parameter server can run itself."""

    def __init__(self, model, lr=0.1, momentum=0.0):
        self.parameters = list(model.parameters.values())
        self.names = list(model.parameters)
        self.options = {"lr": lr, "momentum": momentum}
        self.state = {}


class SignSgd(Sgd):
    """Steps by the gradient's sign, which only this framework can do."""


class Halving:
    """Halves the learning rate with each step."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.steps = 0

    def step(self):
        self.steps += 1
        self.optimizer.group["lr"] *= 0.5

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state):
        self.steps = state["steps"]


class NumpyOptimizer(DriverOptimizer):
    def __init__(self, optimizer):
        self.handle = optimizer
        self.parameters = optimizer.parameters

    @property
    def shapes(self):
        return [one.data.shape for one in self.parameters]

    @property
    def num_groups(self):
        return 1

    @property
    def learning_rate(self):
        return self.handle.options["lr"]

    def specs(self, models):
        named = zip(self.handle.names, self.parameters, strict=True)
        return [(name, one.data.size, "float64", 0) for name, one in named]

    def rules(self):
        if type(self.handle) is not Sgd:
            return None
        options = self.handle.options
        rule = {"learning_rate": options["lr"], "momentum": options["momentum"]}
        return [("sgd", rule)]

    def adopt(self, weights):
        for parameter, values in zip(self.parameters, weights, strict=True):
            values[:] = parameter.data.reshape(-1)
            parameter.data = values.reshape(parameter.data.shape)

    def release(self):
        for parameter in self.parameters:
            parameter.data = parameter.data.copy()

    def step(self, gradients, clip):
        for parameter, parts in zip(self.parameters, gradients, strict=True):
            total = sum(weight * gradient for weight, gradient in parts)
            step = self.handle.options["lr"] * np.sign(total)
            parameter.data -= step.reshape(parameter.data.shape)

    def set_options(self, options):
        self.handle.options.update(options[0])

    def store_state(self, index, steps, values):
        self.handle.state[index] = (
            steps,
            {name: one.copy() for name, one in values.items()},
        )

    def stored_state(self, index, names):
        return self.handle.state.get(index, (0, {}))

    def state_dict(self):
        state = [[steps, dict(kept)] for steps, kept in self.handle.state.values()]
        return {"options": dict(self.handle.options), "state": state}

    def load_state_dict(self, state):
        self.handle.options = dict(state["options"])
        self.handle.state = dict(enumerate(map(tuple, state["state"])))

    def for_server(self):
        return self.parameters, self.handle.options


class NumpyServerOptimizer(ServerOptimizerBase):
    def __init__(self, parameters, options, link):
        self.parameters = parameters
        self.group = dict(options)
        self.bind(link)

    @property
    def handle(self):
        return self

    def options(self):
        return [dict(self.group)]

    def set_options(self, options):
        self.group.update(options[0])
        self.options_were_set()

    def step(self, gradients):
        if self.is_due:
            client = self.link.client
            for index, gradient in enumerate(gradients):
                client.gradient(index)[:] = gradient.reshape(-1)
            client.presence[:] = 1
            self.push(self.rows)
        self.rows = 0


class NumpyOperator(Operator):
    def train_batch(self, batch, batch_info):
        return self.train_batches([batch], batch_info)

    def train_batches(self, batches, batch_info):
        found, counts = [], []
        for batch in batches:
            self._turn.hold(batch)
            output, target, loss = self.forward_batch(batch, batch_info)
            self._output = output
            weights = self.row_weights(target)
            of_output = self.criterion.gradient(output, target, weights)
            found.append([loss, *self.model.gradients(of_output)])
            counts.append(len(target) if weights is None else weights.sum())
        whole = sum(counts)
        shares = [count / max(whole, 1e-300) for count in counts]
        loss, *gradients = (
            sum(share * one for share, one in zip(shares, same, strict=True))
            for same in zip(*found, strict=True)
        )
        self.weigh(whole)
        rows = sum(len(batch[-1]) for batch in batches)
        values = {"train_loss": float(loss), "num_samples": rows}
        self._before_step(values, batches)
        self.optimizer.step(gradients)
        return values

    def forward_batch(self, batch, batch_info):
        *features, target = batch
        output = self.model(*features)
        target = target.reshape(output.shape)
        weights = self.row_weights(target)
        if weights is not None:
            self.weigh(weights.sum())
        return output, target, self.criterion(output, target, weights)

    def predict_batch(self, pred_batch):
        return self.model(*pred_batch)

    def train_mode(self):
        self.model.training = True

    def eval_mode(self):
        self.model.training = False


class NumpyAdapter(ModelAdapter):
    name = "numpy"
    factory = "from_numpy"
    operator_class = NumpyOperator

    def describe_input(self, model):
        return ModelInput(float_type="float64")

    def buffers(self, models):
        return Buffers([model.mean for model in models])

    def model_state(self, model):
        weights = {name: one.data.copy() for name, one in model.parameters.items()}
        return {**weights, "mean": model.mean.copy()}

    def load_model_state(self, model, state):
        for name, one in model.parameters.items():
            one.data[:] = state[name]
        model.mean[:] = state["mean"]

    def seed(self, number):
        random.bit_generator.state = np.random.PCG64(number).state

    def to_tensor(self, array, float_type=None):
        if float_type is not None and array.dtype.kind == "f":
            return array.astype(float_type)
        return array if array.flags.writeable else array.copy()

    def to_numpy(self, value):
        return value

    def parameter(self, values, shape):
        return Parameter(values.reshape(shape))

    def server_optimizer(self, description, link):
        parameters, options = description
        return NumpyServerOptimizer(parameters, options, link)

    def write_file(self, state, path):
        arrays = []

        def outline(value):
            if isinstance(value, np.ndarray):
                arrays.append(value)
                return {"array": len(arrays) - 1}
            if isinstance(value, dict):
                return {"dict": {name: outline(one) for name, one in value.items()}}
            if isinstance(value, (list, tuple)):
                return {"list": [outline(one) for one in value]}
            return {"value": value}

        text = json.dumps(outline(state))
        with path.open("wb") as file:
            np.savez(file, *arrays, outline=np.array(text))

    def read_file(self, path):
        with np.load(path, allow_pickle=False) as file:

            def value(outline):
                ((kind, content),) = outline.items()
                if kind == "array":
                    return file[f"arr_{content}"]
                if kind == "dict":
                    return {name: value(one) for name, one in content.items()}
                return list(map(value, content)) if kind == "list" else content

            return value(json.loads(str(file["outline"])))


class Estimator(EstimatorBase):
    @staticmethod
    def from_numpy(
        *,
        model,
        optimizer=None,
        metrics=None,
        workers=2,
        seed=7,
        model_dir=None,
        scheduler_creator=None,
        distributed=False,
    ):
        context, clip = default_context(), Clip()
        parts = Parts(
            models=[model],
            criterion=SquaredError(),
            operator_class=NumpyOperator,
            scheduler_creator=scheduler_creator,
        )
        job = Job(
            NumpyAdapter(),
            parts,
            [] if optimizer is None else [NumpyOptimizer(optimizer)],
            num_replicas=check_num_replicas(workers, context),
            seed=seed,
            sync_stats=False,
            clip=clip,
            context=context,
            distributed=distributed,
        )
        return Estimator(
            job, metrics=metrics, model_dir=model_dir, clip=clip, context=context
        )
