# The engine's image: `atoll` and what it needs to run, nothing else, as a user without rights.
#   docker build -t atoll/engine:0.1.0 .
#   docker run --rm -v "$PWD:/atoll" --user "$(id -u)" atoll/engine:0.1.0 run -f manifests/examples/cora-gcn.yaml
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY docker docker
RUN docker/install-packages docker/packages-build.txt
COPY CMakeLists.txt CMakeLists.txt
COPY engine engine
RUN cmake -S . -B build -G Ninja && ninja -C build atoll && strip build/atoll

FROM ${BASE}
RUN --mount=type=bind,source=docker,target=/docker \
    /docker/install-packages /docker/packages-run.txt && rm -rf /var/lib/apt/lists/* && \
    useradd --uid 10001 --no-create-home --home-dir /atoll atoll && install -d -o atoll -g atoll /atoll
COPY --from=build /src/build/atoll /usr/local/bin/atoll
USER 10001:10001
WORKDIR /atoll
ENTRYPOINT ["atoll"]
CMD ["--help"]
