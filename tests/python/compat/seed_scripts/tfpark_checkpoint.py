saver = tf.train.Saver()
saver.save(optimizer.sess, "/tmp/lenet/")
