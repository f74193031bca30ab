-- End a handshake at its poll timeout. Returns {'request', JSON} if it has claimed a request by then,
-- {'full', seconds until the agent should return} if the queue of the deployment is full, and
-- {'ended', '0'} otherwise.
local dep, token = ARGV[1], ARGV[2]
local max_parked, spacing = tonumber(ARGV[3]), tonumber(ARGV[4])
local claimed = redis.call('GET', P .. 'given:' .. token)
if claimed then
  return { 'request', claimed }
end
local full = count_parked(dep, max_parked) >= max_parked
remove_handshake(dep, token)
if full then
  return { 'full', score(queue_return(dep, spacing)) }
end
return { 'ended', '0' }
