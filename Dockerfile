# The images: each holds one program and what it needs to run, nothing else, as a user without rights.
#   docker build --target engine -t atoll/engine:0.1.0 .
#   docker build --target operator -t atoll/operator:0.1.0 .
#   docker build --target engine-cuda -t atoll/engine-cuda:0.1.0 .     (the engine for GPUs: 0.9 GB more, cuBLAS, cuSPARSE and NCCL)
#   docker run --rm -v "$PWD:/atoll" --user "$(id -u)" atoll/engine:0.1.0 run -f manifests/examples/cora-gcn.yaml
# Programs come from the stage that PROGRAMS names: `compiled` here, or `prebuilt`, build/programs of a machine with the same
# Debian (`make programs`, `make programs-cuda`).
ARG BASE=debian:bookworm-slim
ARG PROGRAMS=compiled

FROM ${BASE} AS compiled
WORKDIR /src
COPY docker docker
RUN docker/install-packages docker/packages-build.txt docker/packages-operator-build.txt
COPY CMakeLists.txt CMakeLists.txt
COPY engine engine
COPY operator operator
COPY charts/atoll/guards.json charts/atoll/guards.json
RUN cmake -S . -B build -G Ninja && ninja -C build atoll atoll-operator && \
    install -D -s -t /programs build/atoll build/atoll-operator

FROM ${BASE} AS prebuilt
COPY build/programs /programs

FROM ${PROGRAMS} AS programs

FROM ${BASE} AS engine
COPY docker/install-packages docker/packages-run.txt /tmp/
RUN /tmp/install-packages /tmp/packages-run.txt && apt-get clean && \
    rm -rf /tmp/* /var/lib/apt/lists/* /var/log/apt /etc/ssh/ssh_host_* && \
    useradd --uid 10001 --no-create-home --home-dir /atoll atoll && install -d -o atoll -g atoll /atoll && \
    install -d /run/sshd /var/lib/extrausers /etc/atoll
COPY docker/engine/sshd_config /etc/atoll/sshd_config
COPY docker/engine/nsswitch.conf /etc/nsswitch.conf
COPY --from=programs /programs/atoll /usr/local/bin/atoll
USER 10001:10001
WORKDIR /atoll
ENTRYPOINT ["atoll"]
CMD ["--help"]

FROM ${BASE} AS operator
COPY docker/install-packages docker/packages-operator.txt /tmp/
RUN /tmp/install-packages /tmp/packages-operator.txt && apt-get clean && \
    rm -rf /tmp/* /var/lib/apt/lists/* /var/log/apt && useradd --uid 10001 --no-create-home --home-dir / atoll
COPY --from=programs /programs/atoll-operator /usr/local/bin/atoll-operator
USER 10001:10001
ENTRYPOINT ["atoll-operator"]
CMD ["--help"]

FROM compiled AS compiled-cuda
RUN docker/install-packages docker/packages-cuda.txt && \
    cmake -S . -B build -G Ninja -DATOLL_CUDA=$(docker/cuda-toolkit /cuda) && ninja -C build atoll-cuda && \
    install -D -s -t /programs build/atoll-cuda && \
    install -D -m 644 -t /programs/cuda /cuda/lib/libcublas.so.13 /cuda/lib/libcublasLt.so.13 \
      /cuda/lib/libcusparse.so.12 /cuda/lib/libnvJitLink.so.13 /cuda/lib/libnccl.so.2

FROM ${BASE} AS prebuilt-cuda
COPY build/programs /programs

FROM ${PROGRAMS}-cuda AS programs-cuda

# The driver's libraries come from the node: NVIDIA's container runtime puts them where the linker looks, GKE's device plugin into a
# folder of their own.
FROM engine AS engine-cuda
ENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=programs-cuda /programs/cuda /usr/local/lib/atoll
COPY --from=programs-cuda /programs/atoll-cuda /usr/local/bin/atoll
