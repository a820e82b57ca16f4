#!/usr/bin/env bash
# Installs the systems that `./run bench --with-peers` compares Pipe with, and notes where they are
# in <build>/peers/peers.cmake, which the benchmark's CMakeLists reads when it is there.
#
#   Halide   newest release on PyPI that this Python installs, into a private environment
#            (the wheel brings headers, libHalide and the autoscheduler plugins); where pip or the
#            wheel is not to be had, Debian's libhalide14-0-dev
#   OpenCV   Debian's libopencv-imgproc-dev (core and imgproc only), for filters
#   oneDNN   Debian's libdnnl-dev, where it is version 2, for convolutions
#   OpenBLAS Debian's libopenblas-dev, for products of matrices
#
# A peer that cannot be installed is left out with a line saying so; that is not an error.
#
# usage: install.sh [BUILD_DIR]      (default: build)
set -euo pipefail

build=${1:-build}
mkdir -p "$build/peers"
peers=$(cd "$build/peers" && pwd)
note=$peers/peers.cmake

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

updated=
apt_install() {
    if dpkg -s "$@" >/dev/null 2>&1; then return 0; fi
    command -v apt-get >/dev/null || return 1
    if [ -z "$updated" ]; then
        as_root apt-get update -qq || true
        updated=yes
    fi
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "$@" \
        >"$peers/apt.log" 2>&1
}

# Prints the folder that holds include/ and lib64/ of the wheel.
halide_from_pypi() {
    local env=$peers/venv python
    if [ ! -x "$env/bin/python" ]; then
        rm -rf "$env"
        if ! python3 -m venv "$env" >/dev/null 2>&1; then
            rm -rf "$env"
            apt_install python3-venv || return 1
            # the distribution's Python, which the package above belongs to
            /usr/bin/python3 -m venv "$env" >/dev/null || return 1
        fi
    fi
    python=$env/bin/python
    if ! "$python" -m pip show -q halide 2>/dev/null; then
        "$python" -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: \
            halide >&2 || return 1
    fi
    "$python" - <<'PY'
import sysconfig
print(sysconfig.get_paths()["platlib"] + "/halide")
PY
}

write_halide() { # version, include folder, library, folder of the plugins
    {
        echo "set(PIPE_PEERS_HALIDE_VERSION \"$1\")"
        echo "set(PIPE_PEERS_HALIDE_INCLUDE \"$2\")"
        echo "set(PIPE_PEERS_HALIDE_LIBRARY \"$3\")"
        echo "set(PIPE_PEERS_HALIDE_PLUGINS \"$4\")"
    } >>"$note.new"
    echo "peers: Halide $1 at $3"
}

: >"$note.new"

if home=$(halide_from_pypi) && [ -f "$home/lib64/libHalide.so" ]; then
    version=$("$peers/venv/bin/python" -m pip show halide 2>/dev/null | sed -n 's/^Version: //p')
    write_halide "$version" "$home/include" "$home/lib64/libHalide.so" "$home/lib64"
elif apt_install libhalide14-0-dev; then
    files=$(dpkg -L libhalide14-0-dev libhalide14-0)
    header=$(grep '/Halide\.h$' <<<"$files" | head -1)
    library=$(grep '/libHalide14\.so$' <<<"$files" | head -1)
    plugin=$(grep '/libautoschedule_adams2019\.so' <<<"$files" | head -1)
    version=$(dpkg-query -W -f '${Version}' libhalide14-0-dev)
    write_halide "${version%%-*}" "$(dirname "$header")" "$library" "$(dirname "$plugin")"
else
    echo "peers: Halide could not be installed; going on without it"
fi

# name, its package, the beginning that its version must have
debian_peer() {
    local version
    if apt_install "$2" && version=$(dpkg-query -W -f '${Version}' "$2") &&
        [[ $version == "$3"* ]]; then
        version=${version%%[+-]*}
        echo "set(PIPE_PEERS_${1^^}_VERSION \"$version\")" >>"$note.new"
        echo "peers: $1 $version"
    else
        echo "peers: $1 could not be installed; going on without it"
    fi
}
debian_peer OpenCV libopencv-imgproc-dev 4.
debian_peer oneDNN libdnnl-dev 2.
debian_peer OpenBLAS libopenblas-dev 0.

# keep the old time stamp where nothing changed, so that CMake does not configure again
if cmp -s "$note.new" "$note"; then rm "$note.new"; else mv "$note.new" "$note"; fi
