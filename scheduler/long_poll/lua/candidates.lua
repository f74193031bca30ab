-- List the parked handshakes of free agents that offer the type. Returns Redis's time, then token,
-- agent and time of the last capture of the type ('' without one) of each handshake.
local dep, kind = ARGV[1], ARGV[2]
local result = { score(now) }
local all = redis.call('HGETALL', P .. 'handshakes:' .. dep)
for i = 1, #all, 2 do
  local waiter = cjson.decode(all[i + 1])
  local is_offered = false
  for _, accepted in ipairs(waiter.types) do
    is_offered = is_offered or accepted == kind
  end
  if is_offered and waiter.poll_ends > now and busy_seconds(dep, waiter.agent) == 0 then
    local last = redis.call('ZSCORE', P .. 'captured:' .. dep .. ':' .. kind, waiter.agent)
    result[#result + 1] = all[i]
    result[#result + 1] = waiter.agent
    result[#result + 1] = last or ''
  end
end
return result
