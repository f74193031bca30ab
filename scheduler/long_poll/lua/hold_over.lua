-- End a handshake at its poll timeout. Returns {'slot', JSON} if it has claimed a request by then,
-- {'away', seconds until the agent should return} if the queue of the deployment is full, and
-- {'free', '0'} otherwise.
local dep, token = ARGV[1], ARGV[2]
local places, spacing = tonumber(ARGV[3]), tonumber(ARGV[4])
local given = redis.call('GET', P .. 'given:' .. token)
if given then
  return { 'slot', given }
end
local full = count_waiting(dep, places) >= places
stop_waiting(dep, token)
if full then
  return { 'away', score(queue_return(dep, spacing)) }
end
return { 'free', '0' }
