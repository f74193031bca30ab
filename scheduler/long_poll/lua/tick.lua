-- Open the requests whose scheduled time has come, and remove the expired ones.
-- Returns the seconds to the next event ('' without any), then the JSON of each opened request.
local most = tonumber(ARGV[1])
local schedule = P .. 'schedule'
local answer = { '' }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', schedule, '-inf', score(now), 'LIMIT', 0, most)) do
  local slot, raw = find_slot(id)
  if not slot then
    redis.call('ZREM', schedule, id)
  elseif slot.lapses <= now then
    remove_slot(slot)
    redis.call('INCR', P .. 'lapsed')
  else
    open_slot(slot)
    redis.call('ZADD', schedule, score(slot.lapses), id)
    answer[#answer + 1] = raw
  end
end
redis.call('ZREMRANGEBYSCORE', P .. 'held', '-inf', score(now))
local next_one = redis.call('ZRANGE', schedule, 0, 0, 'WITHSCORES')
if next_one[2] then
  answer[1] = score(tonumber(next_one[2]) - now)
end
return answer
