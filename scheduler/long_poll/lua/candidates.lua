-- List the parked handshakes of free agents that offer the type. Returns Redis's time, then token,
-- agent and time of the last capture of the type ('' without one) of each handshake.
local dep, kind = ARGV[1], ARGV[2]
local result = { score(now) }
local all = redis.call('HGETALL', P .. 'waiting:' .. dep)
for at = 1, #all, 2 do
  local waiter = cjson.decode(all[at + 1])
  local offers = false
  for _, offered in ipairs(waiter.types) do
    offers = offers or offered == kind
  end
  if offers and waiter.till > now and busy_for(dep, waiter.agent) == 0 then
    local last = redis.call('ZSCORE', P .. 'captured:' .. dep .. ':' .. kind, waiter.agent)
    result[#result + 1] = all[at]
    result[#result + 1] = waiter.agent
    result[#result + 1] = last or ''
  end
end
return result
