predictor = TFPredictor(sess, [logits])
predictions_rdd = predictor.predict()
