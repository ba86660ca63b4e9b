/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges with NVIDIA's own header. This file is compiled twice, as a program and as a library that
 * the program loads, which are two modules of NVTX.
 */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>

#define EVENT(type, field, text)                                                                   \
	{                                                                                          \
		.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .category = 3,     \
		.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, .payload.ullValue = 7,            \
		.messageType = (type), .message.field = (text)                                     \
	}

#ifdef MODULE
void module_ranges(void);
void module_ranges(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("module");
	nvtxEventAttributes_t e = EVENT(NVTX_MESSAGE_TYPE_REGISTERED, registered, NULL);

	e.message.registered = nvtxDomainRegisterStringA(d, "registered");
	nvtxDomainRangePushEx(d, &e);
	nvtxDomainMarkEx(d, &e);
	nvtxDomainRangePop(d);
	nvtxDomainDestroy(d);
}
#else
static void *ends(void *id)
{
	nvtxRangeEnd(*(nvtxRangeId_t *)id);
	return NULL;
}

int main(int argc, char **argv)
{
	void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*module)(void) = h ? (void (*)(void))dlsym(h, "module_ranges") : NULL;
	nvtxEventAttributes_t e = EVENT(NVTX_MESSAGE_TYPE_UNICODE, unicode, L"wide \u00e4");
	nvtxRangeId_t id;
	pthread_t t;

	if (!module)
		return 2;
	nvtxRangePushA("outer");
	nvtxRangePushEx(&e);
	module();
	nvtxRangePop();
	nvtxRangePop();
	nvtxMarkA("mark");
	nvtxNameCategoryA(3, "category");
	id = nvtxRangeStartA("across threads");
	pthread_create(&t, NULL, ends, &id);
	pthread_join(t, NULL);
	for (int i = 0; i < 1000; i++)
		nvtxRangePushA("deep");
	for (int i = 0; i < 1001; i++)
		nvtxRangePop();
	return 0;
}
#endif
