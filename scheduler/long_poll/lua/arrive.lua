-- Begin a handshake. Returns {'request', JSON} for a claimed request, {'full', seconds until the agent
-- should return} if the queue of the deployment is full, {'over quota', the same} if the project has
-- its quota of parked handshakes, or {'parked', seconds until the agent is no longer busy} if the
-- handshake is parked. A retry after a lost response returns the same request.
local dep, token, agent, types = ARGV[1], ARGV[2], ARGV[3], cjson.decode(ARGV[4])
local project, poll_timeout = ARGV[5], tonumber(ARGV[6])
local max_parked, spacing = tonumber(ARGV[7]), tonumber(ARGV[8])
local quota, project_spacing = tonumber(ARGV[9]), tonumber(ARGV[10])
local claimed = redis.call('GET', P .. 'assigned:' .. token)
if claimed then
  return { 'request', claimed }
end
for _, kind in ipairs(types) do
  redis.call('ZADD', P .. 'handshake_times', score(now), project .. ':' .. dep .. ':' .. kind)
end
local busy = busy_seconds(dep, agent)
if busy == 0 then
  local request, raw = most_urgent(dep, types)
  if request then
    assign(request, raw, token, agent, poll_timeout)
    return { 'request', raw }
  end
end
local key = P .. 'handshakes:' .. dep
if redis.call('HEXISTS', key, token) == 0 then
  if count_parked(project, dep, max_parked) >= max_parked then
    return { 'full', score(queue_return(dep, spacing)) }
  end
  if count_project_parked(project) >= quota then
    return { 'over quota', score(queue_return('project:' .. project, project_spacing)) }
  end
end
-- The entry expires by itself if the web process that parks the handshake dies.
local poll_ends = now + poll_timeout + 1
redis.call('HSET', key, token, cjson.encode({ agent = agent, types = types, poll_ends = poll_ends }))
extend_lifetime(key, poll_timeout + 1)
redis.call('ZADD', P .. 'parked', score(poll_ends), token)
redis.call('ZADD', parked_key(project), score(poll_ends), token)
extend_lifetime(parked_key(project), poll_timeout + 1)
return { 'parked', score(busy) }
