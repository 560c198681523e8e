"""The entry point of the second process of `ahead`."""

from persona_evo.compiling.ahead import serve

if __name__ == "__main__":
    serve()
