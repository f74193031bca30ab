-- End handshakes that no agent waits for any more, and make the requests that they had claimed
-- pending again. ARGV: project, deployment, token and agent of each handshake.
for i = 1, #ARGV, 4 do
  local project, dep, token, agent = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  remove_handshake(project, dep, token)
  local raw = redis.call('GETDEL', P .. 'assigned:' .. token)
  if raw then
    local request = cjson.decode(raw)
    redis.call('DEL', busy_key(dep, agent))
    redis.call('ZREM', P .. 'captured:' .. dep .. ':' .. request.type, agent)
    put_request(request, raw)
  end
end
