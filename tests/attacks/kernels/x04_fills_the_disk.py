"""Writes until it is stopped."""


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(**_):
    with open("large.bin", "wb") as file:
        while True:
            file.write(bytes(1 << 22))
