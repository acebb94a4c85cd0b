"""Forks without end."""

import os
import time


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(**_):
    while True:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
