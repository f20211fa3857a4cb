fn main() {
    penstock_kernel_build::compile("bpf/steady.bpf.c");
}
