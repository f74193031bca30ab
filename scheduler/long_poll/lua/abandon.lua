-- Handshakes that nobody answers any more, as (dep, token, agent) repeated: they wait no longer,
-- and what they were given goes back to the others.
for at = 1, #ARGV, 3 do
  local dep, token, agent = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  stop_waiting(dep, token)
  local raw = redis.call('GETDEL', P .. 'given:' .. token)
  if raw then
    local slot = cjson.decode(raw)
    redis.call('DECR', P .. 'claimed')
    redis.call('DEL', busy_key(dep, agent))
    redis.call('ZREM', P .. 'captured:' .. dep .. ':' .. slot.type, agent)
    put_slot(slot, raw)
  end
end
