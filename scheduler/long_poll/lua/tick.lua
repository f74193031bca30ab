-- Open the requests whose scheduled time has come, and remove the expired ones.
-- Returns the seconds to the next event ('' without any), then the JSON of each opened request.
local limit = tonumber(ARGV[1])
local schedule = P .. 'schedule'
local result = { '' }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', schedule, '-inf', score(now), 'LIMIT', 0, limit)) do
  local request, raw = find_request(id)
  if not request then
    redis.call('ZREM', schedule, id)
  elseif request.expires_at <= now then
    remove_request(request)
    redis.call('INCR', P .. 'count:expired')
  else
    open_request(request)
    redis.call('ZADD', schedule, score(request.expires_at), id)
    result[#result + 1] = raw
  end
end
redis.call('ZREMRANGEBYSCORE', P .. 'parked', '-inf', score(now))
local next_one = redis.call('ZRANGE', schedule, 0, 0, 'WITHSCORES')
if next_one[2] then
  result[1] = score(tonumber(next_one[2]) - now)
end
return result
