-- Begin a handshake. Returns {'slot', JSON} for a claimed request, {'away', seconds until the agent
-- should return} if the queue of the deployment is full, or {'held', seconds until the agent is no
-- longer busy} if the handshake is parked. A retry after a lost response returns the same request.
local dep, token, agent, types = ARGV[1], ARGV[2], ARGV[3], cjson.decode(ARGV[4])
local project, hold = ARGV[5], tonumber(ARGV[6])
local places, spacing = tonumber(ARGV[7]), tonumber(ARGV[8])
local given = redis.call('GET', P .. 'given:' .. token)
if given then
  return { 'slot', given }
end
for _, kind in ipairs(types) do
  redis.call('ZADD', P .. 'offered', score(now), project .. ':' .. dep .. ':' .. kind)
end
local busy = busy_for(dep, agent)
if busy == 0 then
  local slot, raw = best_slot(dep, types)
  if slot then
    take(slot, raw, token, agent, hold)
    return { 'slot', raw }
  end
end
local key = P .. 'waiting:' .. dep
if redis.call('HEXISTS', key, token) == 0 and count_waiting(dep, places) >= places then
  return { 'away', score(queue_return(dep, spacing)) }
end
-- The entry expires by itself if the web process that parks the handshake dies.
local till = now + hold + 1
redis.call('HSET', key, token, cjson.encode({ agent = agent, types = types, till = till }))
if redis.call('PTTL', key) < (hold + 1) * 1000 then
  redis.call('PEXPIRE', key, milliseconds(hold + 1))
end
redis.call('ZADD', P .. 'held', score(till), token)
return { 'held', score(busy) }
