/* SPDX-License-Identifier: Apache-2.0
 *
 * What libprotobuf says about messages, for pb_differential.py.
 *   pb_judge MODE TYPE < records > answers        MODE: binary, text
 *   pb_judge random TYPE COUNT SEED > records     random messages, as bytes
 *   pb_judge print TYPE < records > records       bytes to text
 * A record is a length (4 bytes, host order) and so many bytes. An answer is 16 bytes: 'a'
 * accepted, 'r' refused or 'u' (text whose message cannot be read back as bytes: not UTF-8, too
 * deep); 1 if a C struct cannot hold it (a NUL in a string, -0 without presence); 6 bytes of
 * padding; hash.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include "tf_checkpoint.pb.h"
#include "tf_graph.pb.h"
#include "tf_step.pb.h"
#include "tfprof_log.pb.h"
#include "tfprof_output.pb.h"

using namespace google::protobuf;
using F = FieldDescriptor;

static bool get_record(std::string *s)
{
	uint32_t n;
	if (fread(&n, 4, 1, stdin) != 1)
		return false;
	s->resize(n);
	return n == 0 || fread(&(*s)[0], 1, n, stdin) == n;
}

static void put_record(const std::string &s)
{
	uint32_t n = static_cast<uint32_t>(s.size());
	fwrite(&n, 4, 1, stdout);
	fwrite(s.data(), 1, n, stdout);
}

static std::string canonical(const Message &m)
{
	std::string s;
	{
		io::StringOutputStream to(&s);
		io::CodedOutputStream out(&to);
		out.SetSerializationDeterministic(true);
		m.SerializeWithCachedSizes((m.ByteSizeLong(), &out));
	}
	return s;
}

static uint64_t fnv_hash(const std::string &s)
{
	uint64_t h = 14695981039346656037u;
	for (unsigned char c : s)
		h = (h ^ c) * 1099511628211u;
	return h;
}

/* Is there a string with a NUL, or a -0 that protobuf-c takes for absent? */
static bool beyond_c(const Message &m)
{
	const Reflection *r = m.GetReflection();
	std::vector<const F *> fields;
	std::string scratch;

	r->ListFields(m, &fields);
	for (const F *f : fields) {
		int n = f->is_repeated() ? r->FieldSize(m, f) : 1;
		for (int i = 0; i < n; i++) {
			bool rep = f->is_repeated();
			if (f->type() == F::TYPE_STRING &&
			        (rep ? r->GetRepeatedString(m, f, i) : r->GetString(m, f))
			                        .find('\0') != std::string::npos)
				return true;
			if (!f->is_repeated() && !f->has_presence() &&
			        ((f->type() == F::TYPE_FLOAT && r->GetFloat(m, f) == 0) ||
			                (f->type() == F::TYPE_DOUBLE && r->GetDouble(m, f) == 0)))
				return true;
			if (f->cpp_type() == F::CPPTYPE_MESSAGE &&
			        beyond_c(
			                rep ? r->GetRepeatedMessage(m, f, i) : r->GetMessage(m, f)))
				return true;
		}
	}
	return false;
}

static void set_random(Message *m, const F *f, int depth);

static int budget; /* fields that may still be set */

static void fill_random(Message *m, int depth)
{
	const Descriptor *d = m->GetDescriptor();
	int from = rand() % 1000;
	for (int i = 0; i < d->field_count(); i++) {
		const F *f = d->field((i + from) % d->field_count());
		if (rand() % 3 == 0 && budget > 0 &&
		        (depth < 5 || f->cpp_type() != F::CPPTYPE_MESSAGE))
			for (int n = f->is_repeated() ? 1 + rand() % 3 : 1; n > 0; n--, budget--)
				set_random(m, f, depth);
	}
}

static void set_random(Message *m, const F *f, int depth)
{
	static const int64_t edges[] = { 0, 1, -1, 127, 128, INT32_MAX, INT32_MIN, INT64_MAX,
		INT64_MIN, 300 };
	static const char *texts[] = { "", "a", "node/x:0", "\xc3\xa9", "^in\n\t\"'\\",
		"\xf0\x9f\x98\x80 long text " };
	const Reflection *r = m->GetReflection();
	int64_t v = edges[rand() % 10];
	double x = rand() % 2 ? static_cast<double>(v) / 7 : 1e-40 * rand();
#define SET(Kind, value) (f->is_repeated() ? r->Add##Kind(m, f, value) : r->Set##Kind(m, f, value))
	switch (f->cpp_type()) {
	case F::CPPTYPE_INT32: SET(Int32, static_cast<int32_t>(v)); break;
	case F::CPPTYPE_UINT32: SET(UInt32, static_cast<uint32_t>(v)); break;
	case F::CPPTYPE_INT64: SET(Int64, v); break;
	case F::CPPTYPE_UINT64: SET(UInt64, static_cast<uint64_t>(v)); break;
	case F::CPPTYPE_BOOL: SET(Bool, rand() % 2); break;
	case F::CPPTYPE_FLOAT: SET(Float, static_cast<float>(x)); break;
	case F::CPPTYPE_DOUBLE: SET(Double, x); break;
	case F::CPPTYPE_ENUM: SET(EnumValue, rand() % 120); break;
	case F::CPPTYPE_STRING:
		SET(String, f->type() == F::TYPE_BYTES && rand() % 2
		                    ? std::string("\0\xff\x80", 3)
		                    : std::string(texts[rand() % 6]));
		break;
	default:
		fill_random(f->is_repeated() ? r->AddMessage(m, f) : r->MutableMessage(m, f),
		        depth + 1);
	}
}

static void answer(Message *m, const Message &fresh, const std::string &bytes, bool text)
{
	char a[16] = { 'r' };
	if (text ? TextFormat::ParseFromString(bytes, m) : m->ParseFromString(bytes)) {
		std::unique_ptr<Message> again(fresh.New());
		m->DiscardUnknownFields();
		std::string s = canonical(*m);
		uint64_t h = fnv_hash(s);
		a[0] = text && !again->ParseFromString(s) ? 'u' : 'a';
		a[1] = beyond_c(*m);
		memcpy(a + 8, &h, 8);
	}
	fwrite(a, 1, sizeof a, stdout);
}

int main(int argc, char **argv)
{
	std::string mode = argc > 2 ? argv[1] : "", bytes, out;
	tensorflow::GraphDef g;
	tensorflow::RunMetadata r;
	tensorflow::tfprof::ProfileProto p;
	tensorflow::tfprof::OpLogProto o;
	tensorflow::SavedTensorSlices s;
	tensorflow::BundleEntryProto b;
	tensorflow::tfprof::MultiGraphNodeProto v;
	const Message *all[] = { &g, &r, &p, &o, &s, &b, &v }, *fresh = nullptr;

	for (const Message *m : all)
		if (argc > 2 && m->GetDescriptor()->name() == argv[2])
			fresh = m;
	if (!fresh)
		return 2;
	SetLogHandler(nullptr);
	std::unique_ptr<Message> m(fresh->New());
	if (mode == "random") {
		srand(static_cast<unsigned>(atoi(argv[4])));
		for (int n = atoi(argv[3]); n > 0; n--) {
			m->Clear();
			budget = 5 + rand() % 60;
			for (int i = 0; i < 8; i++)
				fill_random(m.get(), 0);
			put_record(m->SerializeAsString());
		}
		return 0;
	}
	while (get_record(&bytes)) {
		if (mode == "print") {
			m->ParseFromString(bytes);
			TextFormat::PrintToString(*m, &out);
			put_record(out);
		} else {
			answer(m.get(), *fresh, bytes, mode == "text");
			fflush(stdout);
		}
	}
	return 0;
}
