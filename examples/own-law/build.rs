fn main() {
    penstock_kernel_build::compile("bpf/steady.bpf.c");
    penstock_kernel_build::compile("bpf/gauge.bpf.c");
    penstock_kernel_build::compile("bpf/linear.bpf.c");
}
