-- Add capture requests whose ids were not added before.
-- ARGV: for each request its JSON and the seconds for which its id is remembered.
for i = 1, #ARGV, 2 do
  local request = cjson.decode(ARGV[i])
  local lifetime = milliseconds(tonumber(ARGV[i + 1]))
  if redis.call('SET', P .. 'added:' .. request.id, 1, 'NX', 'PX', lifetime) then
    redis.call('INCR', P .. 'count:added')
    put_request(request, ARGV[i])
  end
end
