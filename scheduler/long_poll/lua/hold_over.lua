-- A hold is over: {'slot', JSON} if a claim was faster; else it waits no longer, and
-- {'away', seconds} if the deployment is full, {'free', '0'} if not.
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
