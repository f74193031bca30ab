-- Claim a request for a parked agent that was busy. Returns {'request', JSON}, {'busy', seconds} if
-- the agent is still busy, or {'none', '0'} without a request or if the handshake ended.
local dep, token, seconds_stored = ARGV[1], ARGV[2], tonumber(ARGV[3])
local raw_waiter = redis.call('HGET', P .. 'handshakes:' .. dep, token)
if not raw_waiter then
  return { 'none', '0' }
end
local waiter = cjson.decode(raw_waiter)
local busy = busy_seconds(dep, waiter.agent)
if busy > 0 then
  return { 'busy', score(busy) }
end
local request, raw = most_urgent(dep, waiter.types)
if not request then
  return { 'none', '0' }
end
assign(request, raw, token, waiter.agent, seconds_stored)
return { 'request', raw }
