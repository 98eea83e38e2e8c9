-- Takes a shard over: an empty commit whatever the number is, fencing every earlier owner.
--
-- KEYS  the position hash of the service
-- ARGV  nonce, the owner's name, how many owners are remembered
-- Answers all fields of the position hash. Sent again with the same nonce it changes nothing.

local owner = ARGV[2]

local function others(names)
    local found = {}
    for name in string.gmatch(names or '', '%S+') do
        if name ~= owner then table.insert(found, name) end
    end
    return found
end

local stands = redis.call('HMGET', KEYS[1], 'nonce', 'owners', 'attempted-by')
if stands[1] ~= ARGV[1] then
    local owners = others(stands[2])
    table.insert(owners, owner)
    while #owners > tonumber(ARGV[3]) do table.remove(owners, 1) end
    redis.call('HSET', KEYS[1], 'nonce', ARGV[1], 'owners', table.concat(owners, ' '),
        'attempted-by', table.concat(others(stands[3]), ' '))
    redis.call('HINCRBY', KEYS[1], 'number', 1)
end
return redis.call('HGETALL', KEYS[1])
