-- Give a pending request to a parked handshake, and wake the process that parks it. Returns
-- 'claimed', 'no slot' if the request was claimed already or has expired, or 'no agent' if the
-- handshake ended, the agent is busy or its web process died.
local id, dep, token, keep = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local channel = ARGV[5]
local slot, raw = find_slot(id)
if not slot or slot.lapses <= now then
  return 'no slot'
end
local raw_waiter = redis.call('HGET', P .. 'waiting:' .. dep, token)
if not raw_waiter then
  return 'no agent'
end
local waiter = cjson.decode(raw_waiter)
if busy_for(dep, waiter.agent) > 0 then
  return 'no agent'
end
if redis.call('PUBLISH', channel, token .. ' ' .. raw) == 0 then
  stop_waiting(dep, token)
  return 'no agent'
end
take(slot, raw, token, waiter.agent, keep)
return 'claimed'
