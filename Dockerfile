# portable without a compiler: inspect, check, target and gate.
#   docker build -t portable .
#   docker run --rm --network none -v "$PWD:/work:ro" portable gate models
FROM python:3.12-slim AS build
COPY . /source
RUN python -m venv /portable && /portable/bin/pip install --no-cache-dir /source

FROM python:3.12-slim
COPY --from=build /portable /portable
USER nobody
WORKDIR /work
ENTRYPOINT ["/portable/bin/portable"]
