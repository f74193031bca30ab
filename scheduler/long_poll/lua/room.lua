-- The head of every script. KEYS[1] is the prefix of all keys; the clock is Redis's own, for
-- those of the web processes differ.
--
-- slots                 hash   slot id: JSON, with `lapses` (Unix time) and `busy` (seconds)
-- schedule              zset   slot id: its moment; once open, when it lapses
-- open:<dep>            zset   slot id: urgency
-- known:<slot id>       string keeps a slot from being added again
-- asked:<dep>:<type>    set    ids of the slots that persons asked for and nobody has claimed
-- waiting:<dep>         hash   token: JSON {agent, types, till}
-- held                  zset   token: till; all deployments
-- busy:<dep>:<agent>    string while it captures
-- captured:<dep>:<type> zset   agent: when last
-- given:<token>         string the slot that this handshake was given, until it surely got it
-- returns:<dep>         string when the last of those sent away returns
-- offered               zset   project:dep:type: when last
-- claimed, lapsed       counters
local P = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local REMEMBERED = 128 -- agents by deployment and type
local DAY = 86400

local function score(number)
  return string.format('%.6f', number)
end

local function milliseconds(seconds)
  return string.format('%d', math.max(1, math.ceil(seconds * 1000)))
end

local function find_slot(id)
  local raw = redis.call('HGET', P .. 'slots', id)
  if raw then
    return cjson.decode(raw), raw
  end
end

local function asked_key(slot)
  return P .. 'asked:' .. slot.deployment .. ':' .. slot.type
end

local function remove_slot(slot)
  redis.call('HDEL', P .. 'slots', slot.id)
  redis.call('ZREM', P .. 'schedule', slot.id)
  redis.call('ZREM', P .. 'open:' .. slot.deployment, slot.id)
  redis.call('SREM', asked_key(slot), slot.id)
end

-- From now on it is for whoever arrives.
local function open_slot(slot)
  local urgency = slot.moment
  if slot.origin == 'person' then
    urgency = urgency - 1e11
  end
  local open = P .. 'open:' .. slot.deployment
  redis.call('ZADD', open, score(urgency), slot.id)
  redis.call('EXPIRE', open, 600)
end

-- One that is due is open before a tick offers it to those who wait: who arrives until then may be
-- sent away for want of a place, or be given what is less urgent.
local function put_slot(slot, raw)
  redis.call('HSET', P .. 'slots', slot.id, raw)
  redis.call('ZADD', P .. 'schedule', score(slot.moment), slot.id)
  if slot.moment <= now then
    open_slot(slot)
  end
  if slot.origin == 'person' then
    redis.call('SADD', asked_key(slot), slot.id)
    redis.call('EXPIRE', asked_key(slot), 600)
  end
end

local function busy_key(dep, agent)
  return P .. 'busy:' .. dep .. ':' .. agent
end

-- Seconds for which the agent is thought to capture still; 0 if it is free.
local function busy_for(dep, agent)
  return math.max(0, redis.call('PTTL', busy_key(dep, agent))) / 1000
end

local function stop_waiting(dep, token)
  redis.call('ZREM', P .. 'held', token)
  return redis.call('HDEL', P .. 'waiting:' .. dep, token)
end

-- The claim itself: the slot is this handshake's and nobody else's.
local function take(slot, raw, token, agent, keep)
  remove_slot(slot)
  stop_waiting(slot.deployment, token)
  redis.call('SET', busy_key(slot.deployment, agent), 1, 'PX', milliseconds(slot.busy))
  local captured = P .. 'captured:' .. slot.deployment .. ':' .. slot.type
  redis.call('ZADD', captured, score(now), agent)
  redis.call('ZREMRANGEBYRANK', captured, 0, -REMEMBERED - 1)
  redis.call('EXPIRE', captured, DAY)
  redis.call('SET', P .. 'given:' .. token, raw, 'PX', milliseconds(keep))
  redis.call('INCR', P .. 'claimed')
end

-- The most urgent open slot of the types.
local function best_slot(dep, types)
  local wanted = {}
  for _, kind in ipairs(types) do
    wanted[kind] = true
  end
  for _, id in ipairs(redis.call('ZRANGE', P .. 'open:' .. dep, 0, -1)) do
    local slot, raw = find_slot(id)
    if slot and wanted[slot.type] and slot.lapses > now then
      return slot, raw
    end
  end
end

-- How many wait, without those whose process died.
local function count_waiting(dep, places)
  local key = P .. 'waiting:' .. dep
  if redis.call('HLEN', key) >= places then
    local all = redis.call('HGETALL', key)
    for at = 1, #all, 2 do
      if cjson.decode(all[at + 1]).till < now then
        stop_waiting(dep, all[at])
      end
    end
  end
  return redis.call('HLEN', key)
end

-- policy.next_return; seconds from now.
local function queue_return(dep, spacing)
  local key = P .. 'returns:' .. dep
  local returns = math.max(tonumber(redis.call('GET', key) or 0), now) + spacing
  redis.call('SET', key, score(returns), 'PX', milliseconds(returns - now))
  return returns - now
end
