#!/usr/bin/env bash
# Packs what `./run gpu` runs on a machine with a GPU, for one that can download and build nothing: the tests of kernels,
# pipe_gpu with the peers that were built, and every shared library that they need but those of the C and C++ compilers.
# On that machine: `tar xf FILE && pipe_gpu_bundle/run.sh [pipe_gpu's arguments]`. It needs the NVIDIA driver only, and a C
# library that is not older than the one here.
#
# usage: bundle.sh FILE (.tar.gz, .tar.xz); called by ./run gpu --bundle FILE, which builds everything before
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

file=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bundle=$folder/pipe_gpu_bundle
mkdir -p "$bundle"/{tests,release,lib,clc}
tests=(test_kernels test_gpu_apps test_fuzz)

# copy_libraries FOLDER PROGRAM...: the project's own to FOLDER, all others to lib/.
copy_libraries() {
    local own=$1 library
    shift
    ldd "$@" | sed -n 's|.*=> \(/[^ ]*\).*|\1|p' | sort -u | while read -r library; do
        case $library in
        */libc.so* | */libm.so* | */libstdc++.so* | */libgcc_s.so* | */libdl.so* | */libpthread.so* | */librt.so*) ;;
        "$PWD"/*) cp -L "$library" "$own" ;;
        *) cp -L "$library" "$bundle/lib" ;;
        esac
    done
}

for test in "${tests[@]}"; do
    cp "build/test/test/$test" "$bundle/tests"
    copy_libraries "$bundle/tests" "build/test/test/$test"
done
cp build/release/bin/pipe_gpu "$bundle/release"
copy_libraries "$bundle/release" build/release/bin/pipe_gpu
cp build/release/bin/libpipe_gpu_peers_*.so "$bundle/release" 2>/dev/null || true
strip "$bundle"/{tests,release}/*
for clc in /usr/lib/clc /usr/share/clc /usr/local/lib/clc /usr/local/share/clc; do
    cp "$clc/nvptx64--.bc" "$bundle/clc" 2>/dev/null && break
done

cat >"$bundle/run.sh" <<'RUN'
#!/usr/bin/env bash
# The GPU tests, then pipe_gpu with these arguments; --times alone: no tests.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PIPE_LIBCLC=$here/clc PIPE_HINTS=0 OMP_WAIT_POLICY=passive
failed=0
if [[ ${1:-} != --times ]]; then
    export LD_LIBRARY_PATH=$here/tests:$here/lib
    "$here/tests/test_kernels" || failed=1
    "$here/tests/test_gpu_apps" '~[ptxas]' || failed=1
    PIPE_FUZZ_TARGET=host-cuda PIPE_FUZZ_MODE=gpu PIPE_FUZZ_CASES=${PIPE_FUZZ_CASES:-300} \
        "$here/tests/test_fuzz" 'random pipelines*' || failed=1
fi
LD_LIBRARY_PATH=$here/release:$here/lib "$here/release/pipe_gpu" "$@" || failed=1
exit $failed
RUN
chmod +x "$bundle/run.sh"
tar -C "$folder" -caf "$file" pipe_gpu_bundle
ls -l "$file"
