# Completion of soapstone's command line for bash.

_soapstone() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  local home=${SOAPSTONE_HOME:-}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'run simulate search plot inspect calibrate profile execute trace validate repair repl bench help --help --version' -- "$word"
      compgen -f -X '!*.lua' -- "$word")
    return
  fi
  if [ -z "$home" ]; then
    home=$(soapstone repl <<<'io.write(soapstone.home)' 2>/dev/null)
  fi
  case $before in
    --model | -m)
      mapfile -t COMPREPLY < <(cd "$home/models" 2>/dev/null && compgen -f -X '!*.lua' -- "$word" | sed 's/\.lua$//')
      return ;;
    --topology | -t)
      case $command in simulate | search | profile | execute) ;; *) return ;; esac
      mapfile -t COMPREPLY < <(cd "$home/topologies" 2>/dev/null && compgen -f -X '!*.lua' -- "$word" | sed 's/\.lua$//')
      return ;;
    --strategy | --start | -s)
      mapfile -t COMPREPLY < <(compgen -W 'data_parallel model_parallel expert expert_cnn expert_rnn random whole' \
        -- "$word"; compgen -f -- "$word")
      return ;;
    --searcher)
      mapfile -t COMPREPLY < <(compgen -W 'mcmc greedy annealing random exhaustive' -- "$word")
      return ;;
    --effort | -e)
      mapfile -t COMPREPLY < <(compgen -W 'seconds minute minutes hour hours' -- "$word")
      return ;;
    --operation)
      mapfile -t COMPREPLY < <(compgen -W 'p2p all_reduce all_gather reduce_scatter all_to_all broadcast reduce' -- "$word")
      return ;;
    --algorithm)
      mapfile -t COMPREPLY < <(compgen -W 'ring tree halving_doubling pairwise' -- "$word")
      return ;;
    --links)
      mapfile -t COMPREPLY < <(compgen -W 'fifo-hop fifo-pipe fifo-path shared' -- "$word")
      return ;;
  esac
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$(soapstone help "$command" 2>/dev/null |
        grep -o -- ' --[a-z-]*' | sort -u)" -- "$word")
      return ;;
  esac
  case $command in
    run) mapfile -t COMPREPLY < <(compgen -f -X '!*.lua' -- "$word"; compgen -d -- "$word") ;;
    plot)
      if [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'gantt links memory search acceptance strategy throughput' -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi ;;
    help)
      mapfile -t COMPREPLY < <(compgen -W "run simulate search plot inspect calibrate profile execute trace validate repair repl bench operators options \
        $(soapstone help operators 2>/dev/null | sed -n 's/^\([a-z_0-9]*\) .*/\1/p')" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -F _soapstone soapstone
