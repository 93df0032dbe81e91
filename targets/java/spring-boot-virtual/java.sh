#!/bin/sh
# Java as the route has it.
exec "${JAVA:-java}" "$@"
