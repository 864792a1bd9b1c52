"""Words that tell nothing of whose run it is: of libraries, profilers, devices, plain English."""

from __future__ import annotations

_TEXT = """
abort aborted above accelerate accumulate accumulation acs activities activity ada adagrad adam
adamw add address addresses affine affinity again algo algorithm algorithmic all allgather alloc
allocate allocation allowed allreduce alltoall alltoallv alpha also amd amdgpu ampere an and
annotation annotations another any api apu arch archive are args argument as at aten atomics
attention attn auto autograd avg away aws backend backends backward bad balanced balancing
bandwidth bar barrier base bash batch batchnorm be beat been before begin begins behind beta
between bext bf bfloat binomial blackwell block blocks bnxt board bond bool bootstrap both bottom
broadcast bucket bucketing buckets buffer buffers bus busid busy but bwd by byte bytes cache call
callback calloc calls can cannot cap capture card caught cc cdna ce chain channel channels char
checkpoint chip chrome chunk class clear clip clock clocks close closed closing cluster coalesced
code collate collection collective collectives collnet colltrace color column columns combine comm
command commid comms commscope communicator communicators compile compiled complete completed
completion complex compute config configuration connect connected connecting connection
connections context conv copies copy cores could count counter counters cp cpp cpu cpus cpx cq cqe
create cross csv cuda cudadev cudagraph cumem cupti cut cxi damage damaged data database
dataloader dataloading dataset datatype db ddp debug decode decoder decoding deepspeed default
dense dereg deregister destroy destroyed destructor detected determinism dev device devices did
differ difference dim dims direct disable disabled dispatch dist distributed dmabuf do docker docs
document documents does domain domains double dp dpx driver dropout dtp dump duplicate dynamo each
earlier early edp efa else emb embed embedding embeddings enable enabled encoder encountered end
ended ends engine enp enqueued ens enumerate env environment ep epilogue epoch err errno error
errors eth ethernet etp eval evaluate event events ever every exchange execute execution exit
expert experts fa fail failed fails failure failures fake false fast faster fatal fc feature
features fetch few ffn file files fill finalize fine finite firmware first flatten flight float fn
fnuz folder for force forward found fp free from fsdp fully func function functions fused fwd fx
ga gate gather gb gcn gdr gdrcopy gdrdma geforce gelu gen generate generation generic get gfx gh
gid gids git give global gloo good got gp gpu grad gradient gradients grain graph graphics graphs
group grouped groups gtx guid guids gz gzip had half handle hang hardware has have hbm hca hccl
head heads heart heartbeat hf hfi high hip hipgraph hopper hops host hostname how hsa hsdp hsn
hugepages hybrid ib ibp ibs ibv id idle if iface ifname ignore ignored impossible in indices
indirect inductor inference infiniband info init initialisation initialization input inputs
instability instablity instance instinct int intel inter interface interfaces internal into intra
invalid iommu ionic ipc irdma is it iter iteration iterations its job json kernel kernels key
killed kind kineto known lacks lamb lane lanes large last latency later launch launches layer
layernorm layers lead least left len length lengths less level libfabric libibverbs libraries
library lid lightning like line linear lines link links linux lion list ll lo load loaded loader
loading local localranks log logs long loss lost low lr mac machine made mail make malloc mana
many mapping marker markers max may mean means measure medium megatron mem memcpy memory memset
mended merged mesh metrics mi micro microbatch milliseconds min minibatch missing mlp mlx mod
model modify module modules moe monitor more most mp mpi mpiexec mpirun mr msccl mscclpp much
multi muon must name named nan navi nccl near need needs neither net network never new next nic
nics nil no node nodes none nones nor norm normal not nothing notice now np nps nranks num numa
numel nv nvidia nvl nvlink nvls nvmldev nvs nvtx oam of off ofi ok on once one only op opa opcode
opcount open opened operation operations operators ops optim optimizer option options or other
others out output outputs over own package parallel param parameter parent partition partitions
pat path pattern patterns pci pcie peer peermem peers per perf perfetto performance permute pg phb
pid pipe pipeline pipelines pix pl plugin plugins poll polling pooled port ports pos position post
power pp pre predict prefetch prefill premul preprocess pro process processes processing processor
prod product profile profiler progress progressing proj projection prologue proto protocol proxies
proxy pt publish pxb pxn python pytorch qint qkv qp qpx quadro query queue queues quint radeon
rail rails ran range rank ranks rc rccl rdma rdna re read receive recompute record recorder
records recv reduce reducer reducescatter refused reg region register registered relu remote
repaired replay replica replicate req request requests res reset reshard resizable response result
results retcode retries retry ring rings rms rmsnorm rmsprop ro roce rocep rocm rocminfo rocpd
rocprof rocprofiler rocprofv rocr roctracer roctx root router routing row rows rtx run runner runs
runtime rx same sample sampler saved says sbatch scaler scatter schedule scheduler schema score
sdk see seen send sendrecv seqnum seqs sequence serial series service set setting settings several
sgd sglang sh shard sharded sharding shards shared sharp shm short should signal signed silu
simple since single size slingshot slow slower sm smi smt so socket sockets softmax some sp sparse
speed split splits spx srun stack stage stages stand start started stats status stdout step steps
stream streams such sudo sum sums super support supported sxm symmetric sync synchronize sys
sysctl sysfs system table tables take tar tell tells tensor tensors tesla test text tf than that
the their them then there these they this those thread threads through ti time timed timeline
timeout timeouts times timing titan title to token tokens told too tool tools topk topology torch
torchrun tp tpx trace traces train trainer training transport transports tree trees triton true
tuner turing twice two txt type types ucc ucx uint ulysses undefined under unflatten unhandled
unknown unscale unshard unsigned until up update us usage use used user users uses using uuid uz
valid validation value values variability variable variables vecadd vega vendor verbs version
versions very veth vllm volta wait warmup warn warning was watchdog way wc weight weighted weights
were what when where whether which while who whole whose why width will window with without work
worker workers world would wrapper write xccl xcd xcp xgmi yes zero zip zstd
"""
#: In lower case. What is missing here is renamed in a run that is shared, which hurts nobody.
WORDS = frozenset(_TEXT.split())
