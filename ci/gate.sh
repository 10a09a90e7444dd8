#!/bin/sh
# Holds a firmware's ELF file to limits and a baseline, on any CI: action.yml and ci/gitlab.yml run it.
# What it is to do stands in the environment:
#   TAILSCOPE_ELF       the program, as the linker wrote it
#   TAILSCOPE_LIMIT     limits, one a line: basepri=1200
#   TAILSCOPE_BASELINE  a baseline beside the sources, or nothing
#   TAILSCOPE_ALLOW     what is no failure: 5% or cycles more than the baseline, vanished, polling
#   TAILSCOPE_UNTIL     how long to run it from reset; 1s when not given, of latencies 100ms
#   TAILSCOPE_IRQ       an interrupt: then its latency is judged, else what holds interrupts off
#   TAILSCOPE_OPTIONS   more words of that command: --chip stm32f411re --gaps
#   TAILSCOPE_WHEEL     a path of the wheel, or the address of a release's asset; nothing if it is installed
#   TAILSCOPE_REPORT    the folder to write; tailscope-report when not given
#   TAILSCOPE_ARTIFACT  what GitHub is to call the report; / and what else it refuses becomes -
# The exit status is that of tailscope: 0 as good, 1 worse, 2 cannot say.
set -eu

report=${TAILSCOPE_REPORT:-tailscope-report}
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'artifact=%s\n' "${TAILSCOPE_ARTIFACT:-$report}" | sed 's/[^A-Za-z0-9._=-]/-/g' >>"$GITHUB_OUTPUT"
fi

say() { printf 'gate: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

# An environment of its own: a CI machine's Python is often the system's.
install_wheel() {
    folder=$(mktemp -d)
    python3 -m venv "$folder/venv" || die "this needs Python 3.11 or later with its venv module"
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$1" ||
        die "pip could not install $1; see its message above"
    PATH=$folder/venv/bin:$PATH
}

if [ -z "${TAILSCOPE_ELF:-}" ]; then die "name the program to judge: elf, or TAILSCOPE_ELF"; fi
if [ -z "${TAILSCOPE_LIMIT:-}${TAILSCOPE_BASELINE:-}" ]; then
    die "say what to judge by: limit, baseline or both"
fi
if [ -n "${TAILSCOPE_WHEEL:-}" ]; then install_wheel "$TAILSCOPE_WHEEL"; fi
command -v tailscope >/dev/null || die "there is no tailscope: say where its wheel is, TAILSCOPE_WHEEL"

mkdir -p "$report"
if [ -n "${TAILSCOPE_IRQ:-}" ]; then
    set -- latency "$TAILSCOPE_ELF" --irq "$TAILSCOPE_IRQ"
else
    set -- masks "$TAILSCOPE_ELF"
fi
if [ -n "${TAILSCOPE_UNTIL:-}" ]; then set -- "$@" --until "$TAILSCOPE_UNTIL"; fi
if [ -n "${TAILSCOPE_BASELINE:-}" ]; then set -- "$@" --baseline "$TAILSCOPE_BASELINE"; fi
accepting="tailscope $* ${TAILSCOPE_OPTIONS:-} --update"
if [ -n "${TAILSCOPE_ALLOW:-}" ]; then set -- "$@" --allow "$TAILSCOPE_ALLOW"; fi
while IFS= read -r limit; do
    if [ -n "$limit" ]; then set -- "$@" --limit "$limit"; fi
done <<LIMITS
${TAILSCOPE_LIMIT:-}
LIMITS
set -f
# shellcheck disable=SC2086 # these are several words
set -- "$@" ${TAILSCOPE_OPTIONS:-}
set +f

status=0
tailscope "$@" --junit "$report/tailscope.xml" --markdown "$report/tailscope.md" \
    --bencher "$report/tailscope.json" || status=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$report/tailscope.md" ]; then
    cat "$report/tailscope.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$status" -ne 0 ] && [ -n "${TAILSCOPE_BASELINE:-}" ]; then
    say "to accept what is not as in the baseline, run this and commit the file: $accepting"
fi
exit "$status"
