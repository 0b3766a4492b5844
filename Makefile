# What a person does with this project; every target installs the Debian packages that it needs.
#   make demo     builds atoll, trains GCN on Cora on two ranks, shows the result
#   make test     builds everything and runs every test
#   make cluster  a Kubernetes with four nodes on this machine; make cluster-down takes it away
#   make demo-cluster  the same demo on a Kubernetes of its own, with operator and data set installed by helm
BUILD ?= build
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
SOAK_ROUNDS ?= 20
CTEST = ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

.PHONY: build build-cuda gpu-bundle gpu-check programs programs-cuda demo test test-unit test-cluster lint format sanitize fuzz soak accuracy accuracy-defaults accuracy-strategies accuracy-ablation accuracy-smoothing accuracy-precision accuracy-samplers accuracy-own-rows accuracy-published accuracy-dgs accuracy-pipeline accuracy-effects \
	bench bench-peers bench-operator bench-strategies bench-scale check-simulation simulated judge-choice cluster cluster-down demo-cluster clean build-tools test-tools cluster-tools

build: build-tools
	@mkdir -p $(BUILD)
	cmake -S . -B $(BUILD) -G Ninja >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
	ninja -C $(BUILD) -j $(JOBS) atoll

# build/atoll-cuda, which trains on GPUs too; nvcc comes from PyPI's wheels where CUDA_HOME names none.
build-cuda: build-tools
	@docker/install-packages docker/packages-cuda.txt
	@mkdir -p $(BUILD)
	cmake -S . -B $(BUILD) -G Ninja -DATOLL_CUDA=$$(docker/cuda-toolkit) >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
	ninja -C $(BUILD) -j $(JOBS) atoll atoll-cuda

# What a machine with a GPU, its driver and CUDA's runtime libraries needs for `./check` (docs/gpu.md): $(BUILD)/gpu-bundle.
gpu-bundle: test-tools build-cuda
	cmake -S . -B $(BUILD) -G Ninja -DATOLL_TESTS=ON
	ninja -C $(BUILD) -j $(JOBS) test_gpu gpu_figures
	tests/gpu/bundle $(BUILD) $(BUILD)/gpu-bundle

# On such a machine: the bundle's check, and docs/benchmarks/gpu.md from what it leaves.
gpu-check: gpu-bundle
	$(BUILD)/gpu-bundle/check $(abspath docs/benchmarks/gpu.json)
	tests/gpu/page docs/benchmarks/gpu.json docs/benchmarks/gpu-h200.json >docs/benchmarks/gpu.md

# The programs without debugging information, for the images.
programs: build
	@docker/install-packages docker/packages-operator-build.txt
	cmake -S . -B $(BUILD) -G Ninja
	ninja -C $(BUILD) -j $(JOBS) atoll-operator
	install -D -s -t $(BUILD)/programs $(BUILD)/atoll $(BUILD)/atoll-operator

# The same of the engine for GPUs, with cuBLAS and NCCL.
programs-cuda: programs build-cuda
	install -D -s -t $(BUILD)/programs $(BUILD)/atoll-cuda
	install -D -m 644 -t $(BUILD)/programs/cuda $(addprefix $$(docker/cuda-toolkit)/lib/,libcublas.so.13 libcublasLt.so.13 libcusparse.so.12 libnvJitLink.so.13 libnccl.so.2)

demo: build
	ATOLL=$(abspath $(BUILD)/atoll) tests/e2e/demo

# The suite on a cluster watches the clock: it has the machine to itself, but for clang-tidy, which takes what is left of it.
# Each step says its minutes beside those that it may take on a machine that has nothing yet; CI ends after 90.
test: test-tools cluster-tools
	cmake -S . -B $(BUILD) -G Ninja -DATOLL_TESTS=ON
	@tests/minutes step build 30 -- ninja -C $(BUILD) -j $(JOBS)
	-@tests/minutes step Kubernetes 10 -- tests/cluster/bed build  # tests of charts and of the API want them too, and say so where they can't be had
	-@tests/minutes step helm 3 -- tests/cluster/bed build helm kubeconform
	@tests/minutes step tests 25 -- $(CTEST) -LE long --output-junit tests.xml; status=$$?; \
		tests/minutes tests $(BUILD)/tests.xml; exit $$status
	@tests/minutes step "cluster and clang-tidy" 20 -- $(CTEST) -L long

test-unit: test-tools
	cmake -S . -B $(BUILD) -G Ninja -DATOLL_TESTS=ON
	ninja -C $(BUILD) -j $(JOBS) unit_tests
	$(CTEST) -L unit

# The short suite on a real Kubernetes with four nodes, as root; the first time it builds Kubernetes.
test-cluster: cluster-tools programs
	ATOLL=$(abspath $(BUILD)/atoll) tests/cluster/suite

lint: test-tools
	cmake -S . -B $(BUILD) -G Ninja -DATOLL_TESTS=ON
	$(CTEST) -L lint

format: test-tools
	tests/lint/format --fix

# Unit tests under the sanitizers, each in a build folder of its own; fuzzing brings sanitizers of its own.
sanitize: sanitize-address,undefined sanitize-thread
sanitize-%: export TSAN_OPTIONS = ignore_noninstrumented_modules=1
sanitize-%: test-tools
	cmake -S . -B $(BUILD)-$* -G Ninja -DATOLL_TESTS=ON -DATOLL_SANITIZE=$*
	ninja -C $(BUILD)-$* -j $(JOBS) unit_tests
	ctest --test-dir $(BUILD)-$* --output-on-failure --no-tests=error -j $(JOBS) -L unit

fuzz: test-tools
	tests/fuzz/run $(BUILD)-fuzz $(FUZZ_SECONDS)

# Kills a running job SOAK_ROUNDS times and compares the losses of the resumed runs; then the long suite on a cluster, as root,
# and jobs in a queue of the real Kueue.
soak: test-tools programs cluster-tools
	ATOLL=$(abspath $(BUILD)/atoll) KILL_ROUNDS=$(SOAK_ROUNDS) tests/e2e/kill_resume
	cmake -S . -B $(BUILD) -G Ninja -DATOLL_TESTS=ON
	ninja -C $(BUILD) -j $(JOBS) test_operator_kube test_cuda_seeds
	LATE_STREAMS=100 $(BUILD)/tests/cuda/test_cuda_seeds
	ATOLL=$(abspath $(BUILD)/atoll) tests/cluster/suite --long
	ATOLL=$(abspath $(BUILD)/atoll) tests/cluster/suite --long --family ipv6 --only 'client|training.same'
	tests/cluster/bed build helm kueue
	ATOLL=$(abspath $(BUILD)/atoll) tests/e2e/kueue_itself

# Kernels, epochs and memory against the machine's limits; finished cells are kept in docs/benchmarks/engine.json.
bench: test-tools build
	tests/bench/run --atoll $(BUILD)/atoll --data $(BUILD)/bench-data $(BENCH)

# Cells of at most ten minutes, kept in docs/benchmarks as they finish; OPTIONS="--only REGEX --again".
accuracy: test-tools build
	ninja -C $(BUILD) -j $(JOBS) atoll_f64
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/run $(OPTIONS)

# Every kind of model with its defaults, beside published values and PyG's.
accuracy-defaults: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/defaults $(OPTIONS)

# Approximate strategies beside `graph`, paired by seed.
accuracy-strategies: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/strategies $(OPTIONS)

# gnnpipe's techniques, each on and off.
accuracy-ablation: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/ablation $(OPTIONS)

# Samplers of minibatch beside full neighbours.
accuracy-samplers: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/samplers $(OPTIONS)

# Time to the same accuracy: SIGN in batches of own rows beside GraphSAGE in batches of neighbours.
accuracy-own-rows: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/own_rows $(OPTIONS)

# SIGN beside published accuracies, where 20 vertices of each class train.
accuracy-published: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/published $(OPTIONS)

# DGS, its parts alone, and random draws, beside mini-batches that read all neighbours.
accuracy-dgs: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/dgs $(OPTIONS)

# P3's pipeline of mini-batches beside the same batches without it, by learning rate.
accuracy-pipeline: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/pipeline $(OPTIONS)

# What strategies do to accuracy and to the steps they take: what strategy.kind auto reckons with.
accuracy-effects: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/effects $(OPTIONS)

# Kinds and decays of PipeGCN's smoothing: errors of late rows, and how fast accuracy comes.
accuracy-smoothing: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/smoothing $(OPTIONS)

# What bfloat16 costs in accuracy, beside float32 by seed; OPTIONS as above.
accuracy-precision: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/accuracy/precision $(OPTIONS)

# PyG and DGL beside Atoll: about 3 GB of download.
bench-peers: test-tools build
	@docker/install-packages docker/packages-peers.txt
	tests/peers/setup
	ATOLL=$(abspath $(BUILD)/atoll) tests/peers/bench $(OPTIONS)

# Strategies on slow links, each comparison on a rig of its own (docs/rig.md); OPTIONS="--only REGEX --again". As root.
bench-strategies: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/rig/compare $(OPTIONS)

# Virtual time (atoll simulate) beside the rig. As root.
check-simulation: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/rig/check_simulation $(OPTIONS)

# The papers' clusters in virtual time; OPTIONS="--only REGEX --again".
simulated: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/bench/simulated $(OPTIONS)

# What strategy.kind auto would choose, on cells drawn from a seed; OPTIONS="--seed N --cells N".
judge-choice: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/bench/choice $(OPTIONS)

# Every strategy as ranks are added and as the graph grows, on this machine alone.
bench-scale: test-tools build
	ATOLL=$(abspath $(BUILD)/atoll) tests/bench/scale $(OPTIONS)

# A thousand simulated nodes on a cluster of its own, with mpi-operator beside; OPTIONS="--only REGEX --again". As root.
bench-operator: programs cluster-tools
	ATOLL=$(abspath $(BUILD)/atoll) tests/cluster/bench $(OPTIONS)

# The first time it builds Kubernetes, which takes a while. OPTIONS="--nodes 6 --racks 3 --rate 1gbit"; docs/cluster.md.
cluster: cluster-tools
	tests/cluster/bed up $(OPTIONS)
	@tests/cluster/bed kubectl get nodes --label-columns network.topology.nvidia.com/block

demo-cluster: programs cluster-tools
	ATOLL=$(abspath $(BUILD)/atoll) tests/cluster/demo

cluster-down:
	tests/cluster/bed down

build-tools:
	@docker/install-packages docker/packages-build.txt
test-tools:
	@docker/install-packages docker/packages-build.txt docker/packages-test.txt
	@docker/unpack-package prometheus $(BUILD)/prometheus
cluster-tools:
	@docker/install-packages docker/packages-cluster.txt

clean:
	rm -rf $(BUILD) $(BUILD)-*
