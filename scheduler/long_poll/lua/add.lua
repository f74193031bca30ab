-- Add capture requests whose ids were not added before.
-- ARGV: for each request its JSON and the seconds for which its id is remembered.
for at = 1, #ARGV, 2 do
  local request = cjson.decode(ARGV[at])
  local lifetime = milliseconds(tonumber(ARGV[at + 1]))
  if redis.call('SET', P .. 'known:' .. request.id, 1, 'NX', 'PX', lifetime) then
    redis.call('INCR', P .. 'made')
    put_request(request, ARGV[at])
  end
end
