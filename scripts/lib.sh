# Shared by setup, sextant and test: one line of progress per step, with the elapsed time and an estimate of what is left.
# All of it goes to standard error, so that the output of `scripts/sextant list --json` stays clean.
#
#   plan_step "Kokkos" 120        announce a step and its usual seconds, before the first one runs
#   run_step "Kokkos" COMMAND...  run it; its output goes to a log, whose tail is shown if it fails
#
# A step that prints ninja's "[done/total" also gets its rate, and its own time left from it. With step_quiet=1 a step that
# ends within a third of a second says nothing.

step_names=()
step_costs=()
step_total=0
step_index=0
step_begin=$SECONDS
step_quiet=0

plan_step() {
  step_names+=("$1")
  step_costs+=("$2")
  step_total=$((step_total + 1))
}

clock() {
  if [ "$1" -ge 60 ]; then printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); else printf '%d s' "$1"; fi
}

# Seconds the steps after the current one usually take.
later_cost() {
  local sum=0 i
  for ((i = step_index; i < step_total; ++i)); do sum=$((sum + step_costs[i])); done
  echo $sum
}

# One line for a running step: name, progress within it, elapsed, time left.
step_line() {
  local name=$1 seconds=$2 cost=$3 log=$4 left rate='' done_of='' x y built
  left=$((cost - seconds))
  done_of=$(tail -c 4000 "$log" 2>/dev/null | tr '\r' '\n' | grep -oE '^\[[0-9]+/[0-9]+' | tail -1 | tr -d '[' || true)
  if [ -n "$done_of" ]; then
    x=${done_of%/*}
    y=${done_of#*/}
    built=$((SECONDS - ${ninja_start:-$SECONDS} + 1))
    if [ "$x" -gt 0 ]; then
      left=$((built * (y - x) / x))
      rate=$(printf ' %d/%d, %d.%d a second,' "$x" "$y" $((x / built)) $((10 * x / built % 10)))
    fi
  fi
  [ "$left" -ge 1 ] || left=1
  printf '[%d/%d] %s:%s %s so far, about %s left\n' "$step_index" "$step_total" "$name" "$rate" \
    "$(clock $((SECONDS - step_begin)))" "$(clock $((left + $(later_cost))))"
}

run_step() {
  local name=$1 cost=30 i log start seconds status=0 shown=0 pid announced=0 tick ninja_start=''
  shift
  for ((i = 0; i < step_total; ++i)); do [ "${step_names[i]}" = "$name" ] && cost=${step_costs[i]}; done
  step_index=$((step_index + 1))
  mkdir -p "$root/.deps/log"
  log="$root/.deps/log/$(echo "$name" | tr -cs 'A-Za-z0-9\n' '-').log"
  : >"$log"
  start=$SECONDS
  set -m  # a process group of its own, so that Ctrl-C here can end all of it
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  trap 'kill -- -'$pid' 2>/dev/null; exit 130' INT TERM
  for ((tick = 0; tick < 15; ++tick)); do
    [ $step_quiet -eq 1 ] && kill -0 "$pid" 2>/dev/null || break
    sleep 0.02
  done
  if [ $step_quiet -eq 0 ] || kill -0 "$pid" 2>/dev/null; then
    announced=1
    [ -t 2 ] || step_line "$name" 0 "$cost" "$log" >&2
  fi
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    seconds=$((SECONDS - start))
    if [ -z "$ninja_start" ] && grep -qE '^\[[0-9]+/' "$log"; then ninja_start=$SECONDS; fi
    if [ -t 2 ]; then
      printf '\r\033[K%s' "$(step_line "$name" $seconds "$cost" "$log")" | tr -d '\n' >&2
    elif [ $((seconds - shown)) -ge 15 ]; then
      shown=$seconds
      step_line "$name" $seconds "$cost" "$log" >&2
    fi
  done
  wait "$pid" || status=$?
  trap - INT TERM
  if [ -t 2 ] && [ $announced -eq 1 ]; then printf '\r\033[K' >&2; fi
  if [ $status -ne 0 ]; then
    grep -vE '^\[[0-9]+/[0-9]+' "$log" | tail -60 >&2 || true
    echo "$name failed (status $status); the whole log is $log" >&2
    return $status
  fi
  [ $announced -eq 0 ] || echo "[$step_index/$step_total] $name: done in $(clock $((SECONDS - start)))" >&2
}

# Configures build/ when it is not, and builds the targets named, saying nothing when nothing is to be done.
build() {
  (
    mkdir -p "$root/build"
    exec 9>"$root/build/.lock"
    flock 9
    step_quiet=1
    if [ ! -e "$root/build/build.ninja" ]; then plan_step "configure" 5; fi
    plan_step "compile" 350
    if [ ! -e "$root/build/build.ninja" ]; then run_step "configure" cmake -S "$root" --preset cpu; fi
    NINJA_STATUS='[%f/%t] ' run_step "compile" ninja -C "$root/build" -j "$(nproc)" "$@"
  )
}
