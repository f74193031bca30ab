-- Give a pending request to a parked handshake, and wake the process that parks it. Returns
-- 'claimed', 'no request' if the request was claimed already or has expired, or 'no agent' if the
-- handshake ended, the agent is busy or its web process died.
local id, dep, token, seconds_stored = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local channel = ARGV[5]
local request, raw = find_request(id)
if not request or request.expires_at <= now then
  return 'no request'
end
local raw_waiter = redis.call('HGET', P .. 'handshakes:' .. dep, token)
if not raw_waiter then
  return 'no agent'
end
local waiter = cjson.decode(raw_waiter)
if busy_seconds(dep, waiter.agent) > 0 then
  return 'no agent'
end
if redis.call('PUBLISH', channel, token .. ' ' .. raw) == 0 then
  remove_handshake(request.project, dep, token)
  return 'no agent'
end
assign(request, raw, token, waiter.agent, seconds_stored)
return 'claimed'
