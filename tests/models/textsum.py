# SPDX-License-Identifier: Apache-2.0
"""A sequence-to-sequence model on four GPUs of a worker and two parameter servers, with the call stacks of its Python program
and the times of the tutorial of 2017."""
from wire import Model

PS = '/job:ps/replica:0/task:%d/cpu:0'
CPU = '/job:worker/replica:0/task:0/cpu:0'
GPU = '/job:worker/replica:0/task:0/device:GPU:%d'
MAIN, MODEL, LIB, RNN = ('seq2seq_attention.py', 'seq2seq_attention_model.py', 'seq2seq_lib.py',
                         'core_rnn.py')
BASE = [(MAIN, 168, 'run_filename_from_file', 150, 'runpy'), (MAIN, 33, '_run_code_in_main', 30, 'exec'),
        (MAIN, 316, '<module>', 1, 'tf.app.run()'), (MAIN, 270, 'main', 240, '_Train(model, batcher)'),
        (MAIN, 128, '_Train', 90, 'model.build_graph()')]
SEQ = BASE + [(MODEL, 360, 'build_graph', 350, 'self._add_seq2seq()')]
TRAIN = BASE + [(MODEL, 363, 'build_graph', 350, 'self._add_train_op()')]
LOSS = SEQ + [(MODEL, 293, '_add_seq2seq', 150, 'decoder_outputs, targets'),
              (LIB, 181, 'sampled_sequence_loss', 160, 'average_across_timesteps'),
              (LIB, 147, 'sequence_loss_by_example', 120, 'crossent = loss_function(')]
BIDI = SEQ + [(MODEL, 192, '_add_seq2seq', 150, 'sequence_length=article_lens')]


def at(stack, file, line, func, source):
    return stack + [(file, line, func, max(1, line - 40), source)]


def build():
    m = Model()
    variables(m)
    loss(m)
    encoder(m)
    training(m)
    summaries(m)
    return m


def variables(m):
    stack = at(SEQ, MODEL, 173, '_add_seq2seq', 'for x in encoder_inputs')
    for name, shape, ps in ([('seq2seq/output_projection/w', [256, 100000], 0),
                             ('seq2seq/encoder0/weights', [256, 820], 0),
                             ('seq2seq/embedding/embedding', [200000, 256], 1),
                             ('seq2seq/output_projection/v', [300000], 1)]
                            + [('seq2seq/decoder/lstm%d/weights' % i, [512, 1024], 1) for i in range(14)]):
        m.add(name, 'VariableV2', shape=shape, device=PS % ps, micros=7, size=64, trace=stack,
              types=['_trainable_variables'])
        m.add(name + '/read', 'Identity', [name], out=shape, device=PS % ps, micros=3, trace=stack)


def loss(m):
    inner = at(LOSS, MODEL, 289, 'sampled_loss_func', 'num_classes=vsize)')
    labels = at(LOSS, MODEL, 282, 'sampled_loss_func', 'labels = tf.reshape(labels, [-1, 1])')
    w = 'seq2seq/output_projection/w/read'
    for i in range(30):
        scope = 'seq2seq/sequence_loss/sampled_loss_%d' % i
        g = GPU % (i % 4)
        lab = m.add(scope + '/Reshape', 'Reshape', out=[32, 1], device=CPU, micros=5, size=128,
                    trace=labels)
        s = m.add(scope + '/LogUniformCandidateSampler', 'LogUniformCandidateSampler', [lab],
                  out=[4096], device=CPU, micros=2300, size=32768, trace=inner)
        x = m.add(scope + '/MatMul', 'MatMul', [w, s], out=[32, 4096], device=g, micros=800, gpu=16800,
                  size=524288, flops=2 * 32 * 256 * 4096, trace=inner)
        x = m.add(scope + '/Add', 'Add', [x, s], out=[32, 4096], device=g, micros=400, gpu=8700,
                  size=524288, trace=inner)
        x = m.add(scope + '/Sub', 'Sub', [x, s], out=[32, 4096], device=g, micros=300, gpu=6800,
                  size=524288, trace=inner)
        m.add(scope + '/SoftmaxCrossEntropyWithLogits', 'SoftmaxCrossEntropyWithLogits', [x], out=[32],
              device=CPU, micros=45700, size=524416, trace=inner)


def encoder(m):
    for way, line, micros in (('fw', 104, 127200), ('bw', 110, 125860)):
        stack = at(BIDI, LIB, line, 'bidirectional_rnn', 'sequence_length, scope=scope')
        m.add('seq2seq/encoder0/%s/Shape' % way, 'Shape', ['seq2seq/encoder0/weights/read'], out=[2],
              device=CPU, micros=70, trace=stack)
        cell = at(stack, RNN, 195, 'static_rnn', 'state_size=cell.state_size)')
        for i in range(4):
            m.add('seq2seq/encoder0/%s/cell_%d/MatMul' % (way, i), 'MatMul',
                  ['seq2seq/encoder0/weights/read'], out=[32, 820], device=GPU % i, micros=1000,
                  gpu=micros // 4 - 1000, size=104960, flops=2 * 32 * 256 * 820, trace=cell)
    for line, micros, src in ((253, 50350, 'initial_state_attention=True)'),
                              (218, 2390, 'w_t = tf.transpose(w)')):
        m.add('seq2seq/attention_%d/Mul' % line, 'Mul', ['seq2seq/decoder/lstm0/weights/read'],
              out=[32, 256], device=GPU % 1, micros=40, gpu=micros - 40, size=32768,
              trace=at(SEQ, MODEL, line, '_add_seq2seq', src))
    m.add('seq2seq/embedding_lookup', 'Gather', ['seq2seq/embedding/embedding/read'], out=[32, 256],
          device=PS % 1, micros=8520, size=32768,
          trace=at(SEQ, MODEL, 173, '_add_seq2seq', 'for x in encoder_inputs'))
    m.add('dec_01_att_key/Reshape', 'Reshape', ['seq2seq/attention_253/Mul'], out=[4], device=CPU,
          micros=2, size=16, trace=at(SEQ, MODEL, 253, '_add_seq2seq', 'initial_state_attention=True)'))


def training(m):
    grads = at(TRAIN, MODEL, 307, '_add_train_op', 'tf.gradients(self._loss, tvars)')
    for i in range(30):
        m.add('gradients/part_%02d/MatMul' % i, 'MatMul',
              ['seq2seq/sequence_loss/sampled_loss_%d/SoftmaxCrossEntropyWithLogits' % i],
              out=[256, 4096], device=GPU % (i % 4), micros=600, gpu=14000, size=4194304,
              flops=2 * 32 * 256 * 4096, trace=grads)
    parts = ['gradients/part_%02d/MatMul' % i for i in range(30)]
    m.add('gradients/AddN', 'AddN', parts, out=[256, 4096], device=GPU % 3, micros=440, gpu=50000,
          size=4194304, trace=grads)
    m.add('gradients/concat', 'ConcatV2', ['gradients/AddN'], out=[256, 100000], device=CPU,
          micros=153000, size=102400000, trace=grads)
    apply = at(TRAIN, MODEL, 322, '_add_train_op', 'zip(grads, tvars), global_step)')
    for n in [n.name for n in m.nodes if n.op == 'VariableV2']:
        device = m.by_name[n].device
        m.add('train/update_%s/ApplyAdam' % n, 'ApplyAdam', [n, 'gradients/concat'], device=device,
              micros=17080, trace=apply)


def summaries(m):
    m.add('global_step', 'VariableV2', shape=[], device=PS % 0, micros=12,
          trace=BASE + [(MODEL, 361, 'build_graph', 350, 'self.global_step = tf.Variable(')])
    m.add('Merge/MergeSummary', 'MergeSummary', device=CPU, micros=13, size=32, out=[],
          trace=BASE + [(MODEL, 364, 'build_graph', 350, 'self._summaries = tf.summary.merge_all()')])
    m.add('save/Const', 'Const', out=[], trace=BASE[:4] + [
        (MAIN, 129, '_Train', 90, 'saver = tf.train.Saver()')])
    m.add('train/global_step/read', 'Identity', ['global_step'], out=[], trace=BASE[:4] + [
        (MAIN, 140, '_Train', 90, 'global_step=model.global_step)')])
    for name, line in (('DW', 36), ('DW2', 39)):
        m.add('analyzer/%s/Conv2D' % name, 'Conv2D', out=[2, 6, 6, 6], device=CPU, micros=700 + line,
              size=1728, flops=5832, trace=[('model_analyzer_testlib.py', line, 'BuildSmallModel', 30,
                                             'x = tf.nn.conv2d(image, kernel)')])
