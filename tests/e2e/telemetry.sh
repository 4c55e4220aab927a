#!/usr/bin/env bash
# ipw doctor and ipw measure as a person calls them, on a stand-in GPU whose power is known.
# Usage: telemetry.sh IPW FOLDER-OF-FAKES FOLDER-OF-FIXTURES
set -u
ipw=$1 fakes=$2 fixtures=$3
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
export IPW_SYSFS_ROOT=$work IPW_NVML_LIB=$fakes/fake_nvml.so
export FAKE_NVML_POWER=constant:200 FAKE_NVML_REFRESH_MS=50 FAKE_NVML_GPUS=2

# number FILE KEY: the first value of the key
number() { sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*$/\1/p" "$1" | head -n 1; }

# joules against the exact integral: 2 GPUs of 200 W
"$ipw" measure --telemetry nvml --json -o "$work/a.json" -- sleep 1 || bad=1
j=$(number "$work/a.json" joules) s=$(number "$work/a.json" seconds)
low=$(number "$work/a.json" low_joules) high=$(number "$work/a.json" high_joules)
check "energy $j J in $s s is 400 W within 1 %" holds "$j > 396*$s && $j < 404*$s"
check "truth within [$low, $high]" holds "$low <= 400*$s && 400*$s <= $high"
check "source is measured" grep -q '"energy_source": "measured"' "$work/a.json"

# the command's own output, exit status and signals pass through
out=$("$ipw" measure -q -o /dev/null -- sh -c 'echo out; echo err >&2; exit 7' 2>"$work/err")
check "exit status passes through" [ $? = 7 ]
check "stdout passes through" [ "$out" = out ]
check "stderr passes through" grep -qx err "$work/err"
"$ipw" measure -q -o /dev/null -- sh -c 'kill -TERM $$'
check "a signal passes through" [ $? = 143 ]
"$ipw" measure -o "$work/term.txt" -- sleep 20 &
sleep 1.5
kill -TERM $!
wait $!
check "SIGTERM is passed on to the command" [ $? = 143 ]
check "and the report is still written" grep -q 'elapsed' "$work/term.txt"
"$ipw" measure -q -- /no/such/command 2>"$work/err"
check "a command that cannot run" [ $? = 127 ]
check "is named" grep -q '/no/such/command' "$work/err"
"$ipw" measure 2>"$work/err"
check "no command is wrong usage" [ $? = 2 ]

# live: a line a second until interrupted
"$ipw" measure --live --telemetry nvml >"$work/live" 2>/dev/null &
sleep 3.5
kill -INT $!
wait $!
check "live ends well" [ $? = 0 ]
check "live shows the rail" grep -Eq '^gpu +(39[89]|40[0-2])\.[0-9]+ W' "$work/live"

# estimated energy says so, loudly and first
unset IPW_NVML_LIB
"$ipw" measure -o "$work/b.txt" -- true 2>/dev/null
check "an estimate shows no bounds" [ "$(grep -c '\[' "$work/b.txt")" = 0 ]
check "estimated is in the headline" grep -q "^ Energy of 'true': ESTIMATED" "$work/b.txt"
"$ipw" measure --telemetry none -o "$work/c.txt" -- true
check "no sensors is said" grep -q 'nothing here measures energy' "$work/c.txt"

# doctor
export IPW_NVML_LIB=$fakes/fake_nvml.so
"$ipw" doctor --duration 1s --json >"$work/d.json" 2>/dev/null || bad=1
check "doctor measured the refresh period" \
    holds "$(sed -n '/"quantity": "energy_j"/,/}/s/.*"refresh_s": \([0-9.]*\),/\1/p' "$work/d.json" | head -n 1) - 0.05 < 0.005"
check "doctor compared counter and power" grep -q '"counter_over_power": \(0.9[89]\|1.0[0-2]\|1\.0$\)' "$work/d.json"
IPW_SYSFS_ROOT=$fixtures/sys/xeon-2s "$ipw" doctor --duration 200ms >"$work/e.txt" 2>/dev/null || bad=1
check "doctor finds RAPL" grep -q 'package-0' "$work/e.txt"
"$ipw" doctor --telemetry rapl 2>"$work/err"
check "a collector asked for by name must work" [ $? = 1 ]
check "and the reason is given" grep -q 'no RAPL domains' "$work/err"
"$ipw" doctor --telemetry rpl 2>"$work/err"
check "a mistyped collector" grep -q "did you mean 'rapl'" "$work/err"
"$ipw" doctor --collector-param estimat.tdp_watts=3 2>"$work/err"
check "a mistyped collector of a parameter" grep -q "did you mean 'estimate'" "$work/err"

# a library that lies, hangs or lacks everything does not stop the run
for library in fake_empty fake_nvml_minimal; do
    IPW_NVML_LIB=$fakes/$library.so "$ipw" doctor --duration 100ms >"$work/f.txt" 2>/dev/null
    check "$library is survived" [ $? = 0 ]
done
exit $bad
