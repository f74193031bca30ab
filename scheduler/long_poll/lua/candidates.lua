-- Who waits, is free and offers the type: {now, token, agent, when it captured last or '', …}
local dep, kind = ARGV[1], ARGV[2]
local answer = { score(now) }
local all = redis.call('HGETALL', P .. 'waiting:' .. dep)
for at = 1, #all, 2 do
  local waiter = cjson.decode(all[at + 1])
  local offers = false
  for _, offered in ipairs(waiter.types) do
    offers = offers or offered == kind
  end
  if offers and waiter.till > now and busy_for(dep, waiter.agent) == 0 then
    local last = redis.call('ZSCORE', P .. 'captured:' .. dep .. ':' .. kind, waiter.agent)
    answer[#answer + 1] = all[at]
    answer[#answer + 1] = waiter.agent
    answer[#answer + 1] = last or ''
  end
end
return answer
