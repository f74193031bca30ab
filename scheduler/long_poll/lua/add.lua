-- Add capture requests whose ids are not known yet.
-- ARGV: for each request its JSON and the seconds for which its id stays known.
for at = 1, #ARGV, 2 do
  local request = cjson.decode(ARGV[at])
  local known = milliseconds(tonumber(ARGV[at + 1]))
  if redis.call('SET', P .. 'known:' .. request.id, 1, 'NX', 'PX', known) then
    put_request(request, ARGV[at])
  end
end
