-- Takes a shard over: an empty commit whatever the number is, fencing every earlier owner.
--
-- KEYS  the position hash of the service
-- ARGV  nonce
-- Answers all fields of the position hash. Sent again with the same nonce it changes nothing.

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then
    redis.call('HINCRBY', KEYS[1], 'number', 1)
    redis.call('HINCRBY', KEYS[1], 'takeovers', 1)
    redis.call('HSET', KEYS[1], 'nonce', ARGV[1])
end
return redis.call('HGETALL', KEYS[1])
