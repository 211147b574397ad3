/* TLS: the certificate that the library's connections show, which can be exchanged while the server runs.
 *
 * Happy path: certificate and key are read from files in PEM and belong to each other; each handshake asks for the pair that
 * was read last. What a handshake was given must outlive it, so that earlier pairs are kept until the server stops: a few
 * kilobytes for each SIGHUP. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include "api/internal.h"

enum { CHAIN_MAX = 16, FILE_BYTES_MAX = 1 << 20 };

typedef struct pair {
  gnutls_pcert_st chain[CHAIN_MAX];
  unsigned length;
  gnutls_privkey_t key;
  struct pair *older;
} pair;

/* The library's callback has no argument of ours: one server of a process shows certificates. */
static _Atomic(pair *) current;

static void free_pair(pair *p)
{
  for (unsigned i = 0; i < p->length; i++)
    gnutls_pcert_deinit(&p->chain[i]);
  if (p->key != NULL)
    gnutls_privkey_deinit(p->key);
  free(p);
}

static cm_status read_datum(const char *path, gnutls_datum_t *datum, cm_error *error)
{
  char *bytes;
  size_t size;
  CM_TRY(cm_file_read(path, FILE_BYTES_MAX, &bytes, &size, error));
  *datum = (gnutls_datum_t){(unsigned char *)bytes, (unsigned)size};
  return CM_OK;
}

static void forget(gnutls_datum_t *datum)
{
  if (datum->data != NULL)
    sodium_memzero(datum->data, datum->size);
  free(datum->data);
}

/* Whether the key is the first certificate's: what one signs the other verifies. */
static bool belong(const pair *p)
{
  gnutls_pubkey_t public = NULL;
  unsigned char a[64], b[64];
  size_t size_a = sizeof a, size_b = sizeof b;
  bool same = gnutls_pubkey_init(&public) == 0 && gnutls_pubkey_import_privkey(public, p->key, 0, 0) == 0 &&
              gnutls_pubkey_get_key_id(public, GNUTLS_KEYID_USE_SHA256, a, &size_a) == 0 &&
              gnutls_pubkey_get_key_id(p->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, b, &size_b) == 0 && size_a == size_b &&
              memcmp(a, b, size_a) == 0;
  if (public != NULL)
    gnutls_pubkey_deinit(public);
  return same;
}

static cm_status fill(pair *p, const char *certificate, const char *key, cm_error *error)
{
  gnutls_datum_t text = {NULL, 0}, secret = {NULL, 0};
  unsigned length = CHAIN_MAX;
  CM_TRY_OR(read_datum(certificate, &text, error), forget(&text));
  CM_TRY_OR(read_datum(key, &secret, error), forget(&text));
  cm_status status = CM_OK;
  int code = gnutls_pcert_list_import_x509_raw(p->chain, &length, &text, GNUTLS_X509_FMT_PEM, 0);
  if (code < 0)
    status = cm_fail(error, CM_BAD_OPTION, "%s holds no certificates in PEM (%s)", certificate, gnutls_strerror(code));
  else {
    p->length = length;
    code = gnutls_privkey_init(&p->key);
    if (code == 0)
      code = gnutls_privkey_import_x509_raw(p->key, &secret, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0)
      status = cm_fail(error, CM_BAD_OPTION, "%s holds no private key in PEM that needs no password (%s)", key,
                       gnutls_strerror(code));
    else if (!belong(p))
      status = cm_fail(error, CM_BAD_OPTION, "the key in %s is not that of the first certificate in %s", key, certificate);
  }
  forget(&text);
  forget(&secret);
  return status;
}

cm_status cm_tls_load(const char *certificate, const char *key, cm_error *error)
{
  pair *made;
  CM_TRY(CM_HEAP(made, 1, "the certificate", error));
  CM_TRY_OR(fill(made, certificate, key, error), free_pair(made));
  made->older = atomic_load(&current);
  atomic_store(&current, made);
  return CM_OK;
}

void cm_tls_free(void)
{
  pair *p = atomic_exchange(&current, NULL);
  while (p != NULL) {
    pair *older = p->older;
    free_pair(p);
    p = older;
  }
}

int cm_tls_show(CM_UNUSED gnutls_session_t session, CM_UNUSED const gnutls_datum_t *authorities, CM_UNUSED int authority_count,
                CM_UNUSED const gnutls_pk_algorithm_t *algorithms, CM_UNUSED int algorithm_count, gnutls_pcert_st **chain,
                unsigned *length,
                gnutls_privkey_t *key)
{
  pair *p = atomic_load(&current);
  if (p == NULL)
    return -1;
  *chain = p->chain;
  *length = p->length;
  *key = p->key;
  return 0;
}
