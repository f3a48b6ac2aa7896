shard.partition_by(cols="location", num_partitions=4)
location_list = shard["location"].unique()
