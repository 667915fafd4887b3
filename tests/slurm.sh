#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs examples/gpume.sbatch, a job and an array, in a Slurm of one machine that is started here:
# munged, slurmctld and slurmd with files in build/check/slurm. Skipped where they are not installed
# (Debian's packages: slurmctld, slurmd, slurm-client, munge) or cannot be started.
#
# usage: tests/slurm.sh RESULTS SERIES

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
obj=$top/build/$2/obj
PATH=$PATH:/usr/sbin:/sbin

for program in munged slurmctld slurmd sbatch srun; do
    if ! have $program; then
        skip mpi/slurm "there is no $program (Debian's packages: slurmctld, slurmd, slurm-client, munge)"
        exit
    fi
done
if [ ! -x "$obj/gpume-mpi" ]; then
    skip mpi/slurm "there is no MPI"
    exit
fi

work=$top/build/check/slurm
rm -rf "$work"
mkdir -p "$work/state" "$work/spool" "$work/out"
# sockets have short names
run=$(mktemp -d "${TMPDIR:-/tmp}/gpume-slurm.XXXXXX") || exit
chmod 755 "$run"
SLURM_CONF=$work/slurm.conf
export SLURM_CONF
cleanup() {
    for daemon in slurmd slurmctld munged; do
        if [ -f "$work/$daemon.pid" ]; then
            kill "$(cat "$work/$daemon.pid")" 2> /dev/null
        fi
    done
    rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

host=$(hostname -s 2> /dev/null || hostname)
cores=$(nproc 2> /dev/null || getconf _NPROCESSORS_ONLN)
port=$((20000 + $$ % 20000))
dd if=/dev/urandom of="$work/munge.key" bs=1024 count=1 2> /dev/null
chmod 400 "$work/munge.key"
cat > "$SLURM_CONF" <<EOF
ClusterName=gpume
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$run/munge
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=$((cores < 4 ? 4 : cores)) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 State=UP
EOF
# more tasks than cores
echo 'SlurmdParameters=config_overrides' >> "$SLURM_CONF"

begin() {
    munged --force --key-file="$work/munge.key" --socket="$run/munge" --pid-file="$work/munged.pid" \
           --log-file="$work/munged.log" --seed-file="$work/munged.seed" > "$work/log" 2>&1 || return
    slurmctld -c > "$work/log" 2>&1 || return
    slurmd -N "$host" > "$work/log" 2>&1 || return
    tries=0
    while [ $tries -lt 100 ]; do
        if sinfo -h -o %t 2> "$work/log" | grep -q '^idle'; then
            return 0
        fi
        sleep 0.2
        tries=$((tries + 1))
    done
    return 1
}
if ! begin; then
    skip mpi/slurm "Slurm could not be started here: $(tail -n 1 "$work/log" "$work"/slurm*.log 2> /dev/null | tail -n 1)"
    exit
fi

# finished PATTERN...: waits until files are there
finished() {
    tries=0
    for file; do
        while [ ! -f "$file" ]; do
            tries=$((tries + 1))
            if [ $tries -gt 150 ]; then
                return 1
            fi
            sleep 0.2
        done
    done
}

cd "$work" || exit
ffmpeg() { "$obj/ffmpeg" -nostdin -hide_banner -loglevel error -y "$@"; }
for i in 1 2 3 4 5; do
    ffmpeg -f lavfi -i "testsrc2=size=112x80:rate=25:duration=$i" -c:v mpeg4 -bf 2 -g 9 $i.mp4
    ffmpeg -i $i.mp4 -vf gpume=algo=hexbs:mv_file=$i.npy -f null -
    echo "$work/$i.mp4" >> films.txt
done
GPUME_MPI=$obj/gpume-mpi
OPTIONS=algo=hexbs
OMPI_MCA_btl=self,vader
OMPI_MCA_pml=ob1
export GPUME_MPI OPTIONS OMPI_MCA_btl OMPI_MCA_pml

sbatch --ntasks=3 --output=job.txt "$top/examples/gpume.sbatch" 5.mp4 job.npy > log 2>&1
finished job.npy
check mpi/slurm-job "$(tail -n 1 job.txt log 2> /dev/null | tail -n 1)" cmp -s 5.npy job.npy
sbatch --array=3-4 --ntasks=2 --output=array-%a.txt "$top/examples/gpume.sbatch" films.txt out > log 2>&1
finished out/1.mp4.npy out/2.mp4.npy out/3.mp4.npy out/4.mp4.npy out/5.mp4.npy
for i in 1 2 3 4 5; do
    check "mpi/slurm-array/$i" "$(tail -n 1 array-3.txt array-4.txt 2> /dev/null | tail -n 1)" cmp -s $i.npy "out/$i.mp4.npy"
done
# finished videos are skipped
inodes=$(ls -i out/*.npy)
sbatch --array=0 --ntasks=2 --output=again.txt "$top/examples/gpume.sbatch" films.txt out > log 2>&1
tries=0
while [ $tries -lt 150 ] && [ -n "$(squeue -h 2> /dev/null)" ]; do
    sleep 0.2
    tries=$((tries + 1))
done
check mpi/slurm-skips "$(tail -n 1 again.txt 2> /dev/null)" test -f again.txt -a "$inodes" = "$(ls -i out/*.npy)"
check mpi/slurm-array-files "$(find out -type f | tr '\n' ' ')" test "$(find out -type f | grep -c .)" = 5
